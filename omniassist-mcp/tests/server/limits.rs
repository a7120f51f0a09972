use std::sync::Arc;
use std::time::Duration;

use omniassist_server::core::Limits;
use omniassist_server::throttle::Attempt;
use omniassist_server::tool::{Tool, ToolError};
use serde_json::json;
use tokio::sync::Notify;

use super::host::{Ran, builder, refund_tool, result, serve};

#[tokio::test]
async fn calls_count_as_runs_of_their_principal() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, waits) = (Arc::clone(&begun), Arc::clone(&go_on));
    let wait = Tool::new("wait", "Waits", move || {
        let (begins, waits) = (Arc::clone(&begins), Arc::clone(&waits));
        async move {
            begins.notify_one();
            waits.notified().await;
            Ok::<_, ToolError>("done")
        }
    });
    let ran = Ran::default();
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 2;
    let client = serve(builder(&ran).tool(wait).tool(refund_tool()).limits(limits)).await;
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.call("wait", json!({})).await }
    });
    begun.notified().await;
    // The second one fits.
    assert!(!result(&client.call("refund", json!({ "cents": 1 })).await).1);
    let second = tokio::spawn({
        let client = client.clone();
        async move { client.call("wait", json!({})).await }
    });
    begun.notified().await;
    ran.take();
    let refused = client.call("refund", json!({ "cents": 1 })).await;
    assert_eq!(refused["error"]["code"], -32000, "{refused}");
    assert_eq!(ran.take(), [""; 0]);
    assert!(!result(&client.of("bob").call("refund", json!({ "cents": 1 })).await).1);
    go_on.notify_one();
    go_on.notify_one();
    tokio::time::sleep(Duration::from_millis(50)).await;
    go_on.notify_one();
    for call in [first, second] {
        assert_eq!(result(&call.await.unwrap()).0, "done");
    }
}

#[tokio::test]
async fn the_rate_of_runs_holds_for_calls() {
    let ran = Ran::default();
    let limit = |attempt: &Attempt<'_>| {
        if attempt.principal().id() == "ann" { Err(Duration::from_secs(7)) } else { Ok(()) }
    };
    let client = serve(builder(&ran).tool(refund_tool()).rate_limit(limit)).await;
    let refused = client.call("refund", json!({ "cents": 1 })).await;
    assert_eq!(refused["error"]["code"], -32000);
    assert_eq!(refused["error"]["data"], json!({ "code": "rate_limited", "retryAfterMs": 7_000 }));
    assert_eq!(ran.take(), [""; 0]);
    assert!(!result(&client.of("bob").call("refund", json!({ "cents": 1 })).await).1);
}
