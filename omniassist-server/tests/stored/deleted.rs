//! Runs of a chat that is deleted through another server.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::elsewhere::{get, read_until, send};
use super::outage::Unsteady;
use super::*;

/// Deletes a chat through another server while the run of it is silent, and that of another chat too.
async fn the_run_ends<S: RunStore + ConversationStore + Clone>(store: S, soon: Duration) {
    let model = ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending()));
    let build = |model| Assistant::builder(model).store(store.clone()).build().unwrap();
    let (first, other) = (build(model.clone()), build(ScriptedProvider::new()));
    let mut kept = ask("m1", "Go");
    kept["id"] = "kept".into();
    let mut bodies = Vec::new();
    for post in [ask("m1", "Go"), kept] {
        let mut body = open(&first, &post).await;
        read_until(&mut body, "Half").await;
        bodies.push(body);
    }
    // What is under way is written.
    sleep(Duration::from_secs(5)).await;

    assert!(other.conversations().unwrap().delete(&Principal::new("ada"), "c").await.unwrap());
    timeout(soon, model.dropped()).await.expect("the model is no longer asked");
    sleep(Duration::from_secs(10)).await;
    assert_eq!(first.live_runs(), 1, "the run of the other chat goes on");
    let kept = store.find(&scope(), Which::Chat("kept")).await.unwrap().unwrap();
    assert_eq!((kept.state, kept.epoch), (RunState::Running, 1));
}

#[tokio::test(start_paused = true)]
async fn a_silent_run_ends_at_once_with_its_chat() {
    the_run_ends(MemoryStore::new(), Duration::from_millis(60)).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_run_ends_with_its_chat_without_hints() {
    let store = Unsteady::default();
    assert!(store.hints().is_none());
    the_run_ends(store, Duration::from_millis(2_100)).await;
}

/// The chat is deleted between the look at its run and the read of the journal.
#[tokio::test(start_paused = true)]
async fn a_request_that_meets_the_deletion_of_its_chat_is_answered_as_after_it() {
    let thread = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [], "tools": [],
        "context": [], "forwardedProps": {}});
    for (path, body, expected) in [
        ("/c/stream", Value::Null, StatusCode::NO_CONTENT),
        ("/ag-ui/connect", thread, StatusCode::OK),
        ("/c/stop", json!({}), StatusCode::OK),
        ("/", ask("m2", "And now?"), StatusCode::GONE),
        ("/runs/RUN/obligations/CALL", json!({"approved": true}), StatusCode::GONE),
    ] {
        let store = Unsteady::default();
        let model = ScriptedProvider::new().turn(call("refund", json!({}))).otherwise(|_| text("Done."));
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
            .requires_approval(Approval::always());
        let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();
        post(&assistant, &ask("m1", "Refund it")).await;
        assert_eq!(settled(&store.store).await, RunState::Waiting);
        let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        let path = path.replace("RUN", &head.run.to_string()).replace("CALL", &head.obligations[0].call);

        store.read_ms.store(100, Ordering::SeqCst);
        let asked = async {
            match body {
                Value::Null => get(&assistant, &path).await,
                body => send(&assistant, &path, &body).await,
            }
        };
        let conversations = assistant.conversations().unwrap();
        let deleted = async {
            sleep(Duration::from_millis(50)).await;
            conversations.delete(&Principal::new("ada"), "c").await.unwrap()
        };
        let (answer, deleted) = tokio::join!(asked, deleted);
        assert!(deleted && store.read_ms.load(Ordering::SeqCst) == 0, "{path}");
        assert_eq!(answer.status(), expected, "{path}");
    }
}
