//! Runs that a server could lose: answers of the store do not arrive, or a take-over takes long.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Extensions;
use omniassist_server::RunContext;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use tokio::time::sleep;

use super::elsewhere::{read, send};
use super::outage::Unsteady;
use super::own_store::Own;
use super::*;

fn slow() -> Turn {
    Turn::text("Half").then(Turn::delay(Duration::from_secs(20))).then(text(" and half"))
}

async fn status(assistant: &Assistant, body: &Value) -> StatusCode {
    AssistantService::new(assistant.clone()).handle(request(body)).await.status()
}

/// Makes a server begin its lease, with a post that it refuses.
async fn look(assistant: &Assistant) {
    let mut body = ask("m1", "Hello");
    (body["id"], body["message"]["role"]) = ("other".into(), "assistant".into());
    assert_eq!(status(assistant, &body).await, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn a_begin_whose_answer_is_lost_is_repeated() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().turn(text("In Kiel."));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    store.lost_answers.store(1, Ordering::SeqCst);
    let answer = post(&assistant, &ask("m1", "Where?")).await;
    assert!(answer.contains("In Kiel."), "{answer}");
    assert_eq!(settled(&store.store).await, RunState::Finished);
    assert_eq!((model.payloads().len(), messages(&store.store).await.len()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_if_both_answers_to_its_begin_are_lost() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().turn(text("In Kiel."));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    store.lost_answers.store(2, Ordering::SeqCst);
    let keyed = || {
        let mut keyed = request(&ask("m1", "Where?"));
        keyed.headers_mut().insert("idempotency-key", "k1".parse().unwrap());
        keyed
    };
    let service = AssistantService::new(assistant);
    assert_eq!(service.handle(keyed()).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(state(&store.store).await, RunState::Running);

    sleep(Duration::from_secs(5)).await;
    assert_eq!(state(&store.store).await, RunState::Finished);
    assert_eq!(messages(&store.store).await.last().unwrap().text(), "In Kiel.");
    let again = service.handle(keyed()).await;
    assert_eq!(again.status(), StatusCode::OK);
    let again = again.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&again).contains("In Kiel."), "{again:?}");
    assert_eq!(model.payloads().len(), 1, "the repeated post must begin no second run");
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_if_the_answer_to_its_claim_is_lost() {
    let store = Unsteady::default();
    let model = ScriptedProvider::new().turn(slow()).otherwise(|_| text("The whole"));
    let first = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;
    drop(first);

    let second = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    store.lost_answers.store(1, Ordering::SeqCst);
    look(&second).await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(store.lost_answers.load(Ordering::SeqCst), 0, "a claim was answered by an error");
    assert_eq!(state(&store.store).await, RunState::Finished);
    assert_eq!(messages(&store.store).await.last().unwrap().text(), "The whole");
}

/// PostgreSQL may lose text that it acknowledged, if it crashes. The writer is fenced then, and the run still names its server.
#[tokio::test(start_paused = true)]
async fn a_run_goes_on_if_the_store_has_lost_its_text() {
    let store = Unsteady::default();
    let lost = store.clone();
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            lost.has_lost_writes.store(true, Ordering::SeqCst);
            slow()
        })
        .otherwise(|_| text("The whole"));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    let _body = open(&assistant, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(10)).await;
    assert!(!store.has_lost_writes.load(Ordering::SeqCst), "an append was fenced");
    assert_eq!(state(&store.store).await, RunState::Finished);
    assert_eq!(messages(&store.store).await.last().unwrap().text(), "The whole");
    assert_eq!(assistant.live_runs(), 0);
}

/// Lets a server claim the run of another one, and then not read its conversation.
async fn claim_without_conversation(
    runs: &MemoryStore,
    own: &Own,
    model: &ScriptedProvider,
) -> (Assistant, Assistant) {
    let build = || Assistant::builder(model.clone()).store(runs.clone());
    let first = build().conversations(own.clone()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;

    own.is_down.store(true, Ordering::SeqCst);
    let second = build().conversations(own.clone()).build().unwrap();
    let mut other = ask("m1", "Hello");
    other["id"] = "other".into();
    assert_eq!(status(&second, &other).await, StatusCode::SERVICE_UNAVAILABLE);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(state(runs).await, RunState::Running);
    (second, build().conversations(own.store.clone()).build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_when_its_conversation_can_be_read_again() {
    let (runs, own) = (MemoryStore::new(), Own::default());
    let model = ScriptedProvider::new().turn(slow()).otherwise(|_| text("The whole"));
    let _servers = claim_without_conversation(&runs, &own, &model).await;
    own.is_down.store(false, Ordering::SeqCst);
    assert_eq!(settled(&runs).await, RunState::Finished);
    assert_eq!(messages(&own.store).await.last().unwrap().text(), "The whole");
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_before_its_conversation_can_be_read_does_not_go_on() {
    let (runs, own) = (MemoryStore::new(), Own::default());
    let model = ScriptedProvider::new().turn(slow()).otherwise(|_| text("The whole"));
    let (_second, other) = claim_without_conversation(&runs, &own, &model).await;
    let stopped = read(send(&other, "/c/stop", &json!({})).await).await;
    assert_eq!(stopped, r#"{"state":"stopped","stopped":true}"#);
    own.is_down.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(state(&runs).await, RunState::Stopped);
    assert_eq!(messages(&own.store).await.last().unwrap().text(), "Half");
    assert_eq!(model.payloads().len(), 1, "the model is not asked again");
}

/// A hook of the application that never ends must not keep the server from extending its lease.
#[tokio::test(start_paused = true)]
async fn a_take_over_that_hangs_does_not_end_the_lease() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().otherwise(|_| slow());
    let first = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;

    let hangs = |_: RunContext| pending::<Result<Extensions, std::io::Error>>();
    let second = Assistant::builder(model.clone()).store(store.clone()).recover_with(hangs).build().unwrap();
    look(&second).await;
    let mut own = ask("m7", "Go");
    own["id"] = "own".into();
    let _own = open(&second, &own).await;
    let third = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    for _ in 0..10 {
        look(&third).await;
        sleep(Duration::from_secs(1)).await;
    }
    let run = store.find(&scope(), Which::Chat("own")).await.unwrap().unwrap();
    assert_eq!((run.state, run.epoch), (RunState::Running, 1), "no other server may take the run");
}

#[tokio::test(start_paused = true)]
async fn the_function_of_a_recovery_has_thirty_seconds() {
    for (seconds, end) in [(29, RunState::Finished), (31, RunState::Interrupted)] {
        let store = MemoryStore::new();
        let model = ScriptedProvider::new().turn(slow()).otherwise(|_| text("The whole"));
        let first = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
        let _body = open(&first, &ask("m1", "Go")).await;
        sleep(Duration::from_secs(1)).await;
        first.shutdown().await;

        let waits = move |_: RunContext| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok::<_, std::io::Error>(Extensions::new())
        };
        let second = Assistant::builder(model).store(store.clone()).recover_with(waits).build().unwrap();
        look(&second).await;
        assert_eq!(settled(&store).await, end, "{seconds} s");
    }
}

/// More runs than a server takes over at once are under a key that it does not have.
#[tokio::test(start_paused = true)]
async fn runs_that_cannot_be_claimed_do_not_hide_another() {
    const HIDDEN: usize = 33;
    let store = MemoryStore::new();
    let server = |key: &str, model: ScriptedProvider| {
        let keys = EncryptionKeys::new(key, format!("at least thirty-two bytes of key {key}")).unwrap();
        let mut limits = Limits::default();
        limits.max_runs_per_principal = HIDDEN;
        let builder = Assistant::builder(model).store(Encrypted::new(store.clone(), keys));
        builder.limits(limits).build().unwrap()
    };
    let stuck = || ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending()));
    let (strange, first) = (server("old", stuck()), server("new", stuck()));
    let post_to = async |assistant: &Assistant, chat: String| {
        let body = json!({"id": chat, "message": ask("m1", "Go")["message"]});
        drop(open(assistant, &body).await);
    };
    for number in 0..HIDDEN {
        post_to(&strange, format!("hidden{number}")).await;
    }
    post_to(&first, "c".to_owned()).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(strange.drain(Duration::ZERO).await.released, HIDDEN);
    first.shutdown().await;

    let second = server("new", ScriptedProvider::new().otherwise(|_| text("The whole")));
    look(&second).await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(state(&store).await, RunState::Finished);
    let hidden = store.find(&scope(), Which::Chat("hidden0")).await.unwrap().unwrap();
    assert_eq!((hidden.state, hidden.epoch), (RunState::Running, 1), "nothing was written for it");
}
