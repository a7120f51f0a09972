//! A run of the playground. `assistant` of the parent module builds the assistant on a model.

use omniassist_server::core::RunRequest;
use omniassist_server::testing::{ScriptedProvider, Turn};
use serde_json::json;

use super::assistant;

#[tokio::test]
async fn answers_where_is_order_7() {
    let model = ScriptedProvider::new()
        .turn([
            Turn::text("Let me look. 🔍 "),
            Turn::call_with_id("call_1_1", "order_status", json!({"number": 7})),
        ])
        .turn(Turn::text("It has \"shipped\"."));
    let assistant = assistant(model.clone());
    let request = RunRequest::prompt("Where is order 7?");
    let message = assistant.run(request).message().await.unwrap();

    assert_eq!(message.text(), "Let me look. 🔍 It has \"shipped\".");
    let message = serde_json::to_value(&message).unwrap();
    let parts = message["parts"].as_array().unwrap();
    let call = |id: &str| parts.iter().find(|part| part["toolCallId"] == id).unwrap();
    assert_eq!(call("call_1_1")["output"], json!({"number": 7, "status": "shipped"}));
    assert_eq!(model.turns_left(), 0);
}
