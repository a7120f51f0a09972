//! Retention: what is no longer kept is deleted on a timer.

use std::time::Duration;

use http::StatusCode;
use omniassist_server::store::{Retention, RunStore, Scope, Which};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use serde_json::json;

use super::Site;

/// The unit of the times here. A day has too many beats of the lease for a test.
const MINUTE: Duration = Duration::from_secs(60);

fn kept(minutes: u32) -> Retention {
    let mut retention = Retention::default();
    retention.conversations = Some(minutes * MINUTE);
    retention.tombstones = 30 * MINUTE;
    retention
}

async fn after(time: Duration) {
    // The next sweep is at most a minute later.
    tokio::time::sleep(time + MINUTE + Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_deleted_without_any_request() {
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let site = Site::with(model, |builder| builder.retention(kept(90)));
    // More than a batch.
    for number in 0..201 {
        site.ask(&format!("c{number}"), "m1", "Where is order 17?").await;
    }
    after(80 * MINUTE).await;
    site.ask("c0", "m3", "And now?").await;
    after(20 * MINUTE).await;
    let left = site.get("/threads").await.json();
    assert_eq!((left["threads"].as_array().unwrap().len(), &left["threads"][0]["id"]), (1, &json!("c0")));

    // The name is a tombstone for 30 minutes, and free afterwards.
    assert_eq!(site.ask("c1", "m3", "Hello?").await.status, StatusCode::GONE);
    after(31 * MINUTE).await;
    assert_eq!(site.ask("c1", "m3", "Hello?").await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn conversations_are_kept_for_ever_and_journals_for_an_hour() {
    let site = Site::new();
    site.ask("c", "m1", "Where is order 17?").await;
    let scope = Scope::new("ada");
    let head = async || site.store.find(&scope, Which::Chat("c")).await.unwrap().unwrap().head;
    assert!(head().await > 0);
    after(60 * MINUTE).await;
    assert_eq!(head().await, 0);
    after(600 * MINUTE).await;
    assert_eq!(site.get("/threads/c").await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_with_a_run_in_progress_stays() {
    let model = ScriptedProvider::new().turn(Turn::pending());
    let site = Site::with(model, |builder| {
        let mut limits = omniassist_server::core::Limits::default();
        limits.run_timeout = 10 * MINUTE;
        let mut retention = Retention::default();
        retention.conversations = Some(MINUTE);
        builder.limits(limits).retention(retention)
    });
    let post = json!({ "id": "c", "message": { "id": "m1", "role": "user", "content": "Go" } });
    let reading = site.send(http::Method::POST, "/", Some(&post));
    assert!(tokio::time::timeout(Duration::from_secs(300), reading).await.is_err());
    assert_eq!(site.get("/threads/c").await.status, StatusCode::OK);
}

#[test]
fn an_assistant_that_is_built_outside_a_runtime_sweeps_from_its_first_stored_run() {
    let model = ScriptedProvider::new().otherwise(|_| text("In Kiel."));
    let site = Site::with(model, |builder| builder.retention(kept(1)));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        site.ask("c", "m1", "Where is order 17?").await;
        after(MINUTE).await;
        assert_eq!(site.get("/threads/c").await.status, StatusCode::NOT_FOUND);
    });
}
