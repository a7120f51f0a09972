//! Runs whose server stops without a word.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use omniassist_server::audit::AuditLog;
use omniassist_server::core::{FinishReason, RunEvent, journal};
use omniassist_server::store::TailOf;
use omniassist_server::tool::ToolContext;

use super::*;
use crate::audit::Kept;

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// Returns a model that writes this text, notifies `reached`, and then writes nothing more.
pub(crate) fn stuck_after(text: &'static str, reached: &Arc<Notify>) -> ScriptedProvider {
    let notify = Arc::clone(reached);
    ScriptedProvider::new().turn_with(move |_| {
        notify.notify_one();
        Turn::text(text).then(Turn::pending())
    })
}

/// Posts to a server that stops when `reached` is notified.
pub(crate) fn begin_and_stop(assistant: Assistant, reached: &Notify) {
    let server = runtime();
    server.block_on(async {
        let body = tokio::spawn(async move { post(&assistant, &ask("m1", "Go")).await });
        reached.notified().await;
        // Text is written at most 100 ms later.
        tokio::time::sleep(Duration::from_millis(150)).await;
        drop(body);
    });
    drop(server);
}

/// Starts another server, which takes the run over, and returns its state.
pub(crate) fn restart(assistant: &Assistant, store: &MemoryStore) -> RunState {
    runtime().block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let other = json!({"id": "other", "message": ask("m1", "Hello")["message"]});
        open(assistant, &other).await.collect().await.unwrap();
        settled(store).await
    })
}

pub(crate) fn stored(store: &MemoryStore) -> String {
    let stored = runtime().block_on(messages(store));
    serde_json::to_string(stored.last().unwrap()).unwrap()
}

#[test]
fn an_interrupted_turn_is_asked_again() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let first =
        Assistant::builder(stuck_after("The first try", &reached)).store(store.clone()).build().unwrap();
    begin_and_stop(first, &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    let second = Assistant::builder(model).store(store.clone()).build().unwrap();
    assert_eq!(restart(&second, &store), RunState::Finished);
    let stored = stored(&store);
    assert!(stored.contains("The second try") && !stored.contains("first"), "{stored}");
}

#[test]
fn a_tool_under_way_does_not_run_again() {
    let (store, reached, runs) = (MemoryStore::new(), Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let refund = |runs: &Arc<AtomicUsize>, reached: &Arc<Notify>| {
        let (runs, reached) = (Arc::clone(runs), Arc::clone(reached));
        Tool::new("refund", "Refunds an order", move || {
            let (runs, reached) = (Arc::clone(&runs), Arc::clone(&reached));
            async move {
                runs.fetch_add(1, Ordering::SeqCst);
                reached.notify_one();
                std::future::pending::<Result<&str, ToolError>>().await
            }
        })
    };
    let model = ScriptedProvider::new().turn(call("refund", json!({"order": 17})));
    let first = Assistant::builder(model).tool(refund(&runs, &reached)).store(store.clone()).build().unwrap();
    begin_and_stop(first, &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("I do not know."));
    let audit = Kept::default();
    let second = Assistant::builder(model.clone()).tool(refund(&runs, &reached)).store(store.clone());
    let second = second.audit(AuditLog::new(audit.clone())).build().unwrap();
    assert_eq!(restart(&second, &store), RunState::Finished);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let of_calls = |record: &Value| record["callId"].is_string();
    let audited: Vec<_> = audit.json().into_iter().filter(of_calls).collect();
    let fields = |key| audited.iter().map(move |record| record[key].as_str().unwrap_or_default());
    assert_eq!(fields("action").collect::<Vec<_>>(), ["call_ended"], "{audited:?}");
    assert_eq!(fields("outcome").chain(fields("tool")).collect::<Vec<_>>(), ["unknown", "refund"]);
    let stored = stored(&store);
    assert!(stored.contains("It is not known whether this took effect"), "{stored}");
    let sent = model.payloads().iter().map(|payload| format!("{:?}", payload.transcript)).collect::<String>();
    assert!(sent.contains("It is not known whether this took effect"), "{sent}");
}

#[test]
fn an_idempotent_tool_runs_again_with_the_same_key() {
    let (store, reached, keys) =
        (MemoryStore::new(), Arc::new(Notify::new()), Arc::new(Mutex::new(Vec::new())));
    let refund = |keys: &Arc<Mutex<Vec<String>>>, reached: &Arc<Notify>| {
        let (keys, reached) = (Arc::clone(keys), Arc::clone(reached));
        Tool::new("refund", "Refunds an order", move |call: ToolContext| {
            let (keys, reached) = (Arc::clone(&keys), Arc::clone(&reached));
            async move {
                let runs = {
                    let mut keys = keys.lock().unwrap();
                    keys.push(call.idempotency_key());
                    keys.len()
                };
                if runs == 1 {
                    reached.notify_one();
                    std::future::pending::<()>().await;
                }
                Ok::<_, ToolError>("refunded")
            }
        })
        .idempotent()
    };
    let model = ScriptedProvider::new().turn(call("refund", json!({"order": 17})));
    let first = Assistant::builder(model).tool(refund(&keys, &reached)).store(store.clone()).build().unwrap();
    begin_and_stop(first, &reached);

    let model = ScriptedProvider::new().otherwise(|_| text("Done."));
    let second =
        Assistant::builder(model).tool(refund(&keys, &reached)).store(store.clone()).build().unwrap();
    assert_eq!(restart(&second, &store), RunState::Finished);
    let keys = keys.lock().unwrap();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    assert!(stored(&store).contains("refunded"));
}

/// A server that stopped between the end in the journal and the state of the run would leave an answer to which the next one
/// appends another.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_is_written_with_its_state() {
    for count in 50..80 {
        let store = MemoryStore::new();
        let words = Turn::text_chunks((0..count).map(|number| format!("{number} ")));
        let model = ScriptedProvider::new().turn(words.then(Turn::finish(FinishReason::Stop)));
        let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
        post(&assistant, &ask("m1", "Count")).await;
        assert_eq!(settled(&store).await, RunState::Finished);

        let run = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap().run;
        let question = [TailOf::new(scope(), run, 0)];
        let tail = store.read(&question, usize::MAX).await.unwrap().remove(0).unwrap();
        let settled = journal::read(&tail.segments.last().unwrap().data).unwrap_or_default();
        let has_end = journal::exact(&settled).last().is_some_and(RunEvent::is_terminal);
        assert!(has_end, "{count} words: {:?}", tail.segments);
    }
}
