//! Runs of a chat that is deleted through another server.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::elsewhere::read_until;
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
