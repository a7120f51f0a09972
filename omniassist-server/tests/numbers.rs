//! Tests that numbers keep their exact value between the model, the user and the tool.

use std::sync::{Arc, Mutex};

use omniassist_server::core::message::{Message, ToolState};
use omniassist_server::core::{JsonText, RunEvent, canonical};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::Approval;
use omniassist_server::{Args, Assistant, Tool, ToolError};
use serde_json::value::RawValue;

use super::approvals::{answer, post, state};

/// An argument as its text.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    #[schemars(with = "f64")]
    order_id: Box<RawValue>,
}

#[derive(serde::Serialize)]
struct Found {
    found: Box<RawValue>,
}

/// Returns a tool that records its argument and returns it.
fn look_up() -> (Tool, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by_tool = Arc::clone(&seen);
    let tool = Tool::new("look_up", "Looks an order up", move |Args(order): Args<Order>| {
        seen_by_tool.lock().unwrap().push(order.order_id.get().to_owned());
        async move { Ok::<_, ToolError>(Found { found: order.order_id }) }
    });
    (tool, seen)
}

fn call(number: &str) -> Turn {
    Turn::raw_call("look_up", format!(r#"{{"order_id": {number}}}"#))
}

/// Rounds the numbers of a conversation like a JavaScript client.
fn through_javascript(messages: &mut [Message]) {
    for message in messages {
        for part in &mut message.parts {
            let omniassist_server::core::message::Part::Tool(tool) = part else { continue };
            let plain = |json: &JsonText| canonical::of(json).unwrap().json().clone();
            match &mut tool.state {
                ToolState::OutputAvailable { input, output, .. } => {
                    (*input, *output) = (plain(input), plain(output));
                }
                ToolState::ApprovalRequested { input, .. } | ToolState::ApprovalResponded { input, .. } => {
                    *input = plain(input);
                }
                _ => {}
            }
        }
    }
}

const KEPT: &[&str] = &["1002", "-17", "9007199254740991", "1.0", "1e2", "0.1", "12.50", "1E+2"];
const LOST: &[&str] =
    &["9007199254740993", "18446744073709551615", "-9223372036854775807", "1.00000000000000000000001"];

#[tokio::test]
async fn an_approved_call_runs_with_the_text_that_the_model_wrote() {
    for number in KEPT {
        let (tool, seen) = look_up();
        let model = ScriptedProvider::new().turn(call(number)).turn(text("Done."));
        let assistant =
            Assistant::builder(model).tool(tool.requires_approval(Approval::always())).build().unwrap();
        let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Look.")]).await;
        through_javascript(&mut messages);
        answer(&mut messages, true);
        post(&assistant, "c", messages).await;
        assert_eq!(*seen.lock().unwrap(), [*number]);
    }
}

#[tokio::test]
async fn a_number_that_the_client_would_round_is_refused_before_its_approval() {
    for number in LOST {
        let (tool, seen) = look_up();
        let model = ScriptedProvider::new().turn(call(number)).turn(text("I need it as text."));
        let assistant = Assistant::builder(model.clone())
            .tool(tool.requires_approval(Approval::always()))
            .build()
            .unwrap();
        let (messages, events) = post(&assistant, "c", vec![Message::user("q", "Look.")]).await;
        assert!(!events.iter().any(|event| matches!(event, RunEvent::ToolApprovalRequest(_))), "{number}");
        assert!(seen.lock().unwrap().is_empty(), "{number}");
        let ToolState::OutputError { error_text, .. } = state(&messages) else { panic!("{messages:?}") };
        assert!(error_text.contains("order_id") && error_text.contains("strings"), "{error_text}");
        assert!(error_text.contains(number), "{error_text}");
        let heard = format!("{:?}", model.payloads()[1].transcript);
        assert!(heard.contains("Use strings"), "{heard}");
    }
}

#[tokio::test]
async fn a_call_without_approval_receives_exact_numbers_and_later_posts_keep_them() {
    for number in KEPT.iter().chain(LOST) {
        let (tool, seen) = look_up();
        let model = ScriptedProvider::new().turn(call(number)).turn(text("Found.")).turn(text("Yes."));
        let assistant = Assistant::builder(model.clone()).tool(tool).build().unwrap();
        let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Look.")]).await;
        assert_eq!(*seen.lock().unwrap(), [*number]);
        through_javascript(&mut messages);
        messages.push(Message::user("q2", "Sure?"));
        post(&assistant, "c", messages).await;
        let heard = format!("{:?}", model.payloads()[2].transcript);
        assert!(!heard.contains("no longer be verified"), "{heard}");
        if LOST.contains(number) {
            assert_eq!(
                heard.matches(number).count(),
                2,
                "the call and its output must keep the number: {heard}"
            );
        }
    }
}
