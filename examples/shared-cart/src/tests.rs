use futures_util::StreamExt;
use omniassist_axum::core::{JsonText, RunEvent, RunRequest};
use omniassist_axum::testing::{ScriptedProvider, Turn, text};
use serde_json::{Value, json};

use crate::assistant;

/// Returns the events of a run in which the model makes one call.
async fn events(tool: &str, arguments: Value, state: Value) -> Vec<RunEvent> {
    let model = ScriptedProvider::new().turn(Turn::call(tool, arguments)).turn(text("Done."));
    let mut request = RunRequest::prompt("Please.");
    request.state = Some(JsonText::from_value(&state));
    assistant(model).unwrap().run(request).collect().await
}

#[tokio::test]
async fn tea_is_added_to_the_cart_of_the_page() {
    let state = json!({"cart": [{"tea": "Assam", "packs": 1}]});
    let events = events("add_to_cart", json!({"tea": "Sencha", "packs": 2}), state).await;
    let changes: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::StateDelta(change) | RunEvent::StateSnapshot(change) => Some(change.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(changes.len(), 1);
    assert!(changes[0].contains("Sencha"), "{changes:?}");
}

#[tokio::test]
async fn nothing_is_paid_without_an_approval() {
    let events = events("pay", json!({"cents": 1980}), json!({"cart": []})).await;
    let asked = events.iter().find_map(|event| match event {
        RunEvent::ToolApprovalRequest(request) => Some(request),
        _ => None,
    });
    assert_eq!(asked.unwrap().message.as_deref(), Some("Pay for what is in the cart?"));
    assert!(asked.unwrap().editable);
    assert!(!events.iter().any(|event| matches!(event, RunEvent::ToolOutput { .. })));
}
