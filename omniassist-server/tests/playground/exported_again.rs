//! A run of the playground. `assistant` of the parent module builds the assistant on a model.

use omniassist_server::core::dialect::ai_sdk;
use omniassist_server::testing::{ScriptedProvider, Turn};
use serde_json::json;

use super::assistant;

#[tokio::test]
async fn answers_and_order_0_i_mean_c_0() {
    let model = ScriptedProvider::new()
        .turn(Turn::call_with_id("call_2", "order_status", json!({"number": 0})))
        .turn(Turn::text("No\tC:\\order\n0. \u{202e}"));
    let assistant = assistant(model.clone());
    let body = r#"{
  "messages": [
    {
      "id": "message-1",
      "role": "user",
      "parts": [
        {
          "type": "text",
          "text": "Where is order 7?"
        }
      ]
    },
    {
      "id": "message-2",
      "role": "assistant",
      "parts": [
        {
          "type": "step-start"
        },
        {
          "type": "text",
          "text": "Let me look. 🔍 ",
          "state": "done"
        },
        {
          "type": "tool-order_status",
          "toolCallId": "call_1_1",
          "state": "output-available",
          "input": {
            "number": 7
          },
          "output": {
            "number": 7,
            "status": "shipped"
          }
        },
        {
          "type": "step-start"
        },
        {
          "type": "text",
          "text": "It has \"shipped\".",
          "state": "done"
        }
      ]
    },
    {
      "id": "message-3",
      "role": "user",
      "parts": [
        {
          "type": "text",
          "text": "And \"order 0\"?\nI mean C:\\0. \u202e"
        }
      ]
    }
  ]
}"#;
    let request = ai_sdk::read_request(body.into(), assistant.limits()).unwrap();
    let message = assistant.run(request).message().await.unwrap();

    assert_eq!(message.text(), "No\tC:\\order\n0. \u{202e}");
    let message = serde_json::to_value(&message).unwrap();
    let parts = message["parts"].as_array().unwrap();
    let call = |id: &str| parts.iter().find(|part| part["toolCallId"] == id).unwrap();
    assert_eq!(call("call_2")["errorText"], "There is no order \"0\".");
    assert_eq!(model.turns_left(), 0);
}
