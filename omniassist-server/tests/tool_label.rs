//! Tests of the displayed text of a call: the tool's title and the summary of its arguments.

use bytes::Bytes;
use futures_util::StreamExt;
use http::Extensions;
use http_body_util::{BodyExt, Full};
use omniassist_server::core::{RunEvent, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::{Approval, Args};
use omniassist_server::{Assistant, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    customer: String,
    cents: u64,
}

fn refund() -> Tool {
    Tool::new("refund_order", "Gives money back", async |Args(refund): Args<Refund>| {
        Ok::<_, ToolError>(refund.cents)
    })
    .title("Refund order")
    .summary(|refund: &Refund| format!("{} cents to {}", refund.cents, refund.customer))
}

async fn events_of(tool: Tool, arguments: Value) -> Vec<RunEvent> {
    let model = ScriptedProvider::new().turn(Turn::call("refund_order", arguments)).turn(text("ok"));
    let assistant = Assistant::builder(model).tool(tool).build().unwrap();
    assistant.try_run(RunRequest::prompt("Refund it."), Extensions::new()).await.unwrap().collect().await
}

/// Returns the labels of the only call in order, each with the position of its event.
fn labels(events: &[RunEvent]) -> Vec<(usize, Value)> {
    let labels = events.iter().enumerate().filter_map(|(index, event)| match event {
        RunEvent::Metadata(metadata) => {
            let tools = metadata.get("omniassist")?.get("tools")?.as_object()?;
            Some((index, tools.values().next()?.clone()))
        }
        _ => None,
    });
    labels.collect()
}

fn question(events: &[RunEvent]) -> &str {
    let question = events.iter().find_map(|event| match event {
        RunEvent::ToolApprovalRequest(request) => request.message.as_deref(),
        _ => None,
    });
    question.expect("the run must request an approval with a message")
}

fn mia() -> Value {
    json!({ "customer": "Mia", "cents": 1250 })
}

#[tokio::test]
async fn the_client_receives_the_title_at_the_start_of_a_call_and_the_summary_with_its_arguments() {
    let events = events_of(refund(), mia()).await;
    let [(title_at, title), (summary_at, summary)] = &labels(&events)[..] else { panic!("{events:?}") };
    assert_eq!(*title, json!({ "title": "Refund order" }));
    assert_eq!(*summary, json!({ "summary": "1250 cents to Mia" }));
    let RunEvent::ToolInputStart { title, .. } = &events[title_at - 1] else { panic!("{events:?}") };
    assert_eq!(title.as_deref(), Some("Refund order"));
    assert!(matches!(events[summary_at + 1], RunEvent::ToolInputAvailable { .. }));
}

#[tokio::test]
async fn a_tool_without_title_and_summary_has_no_label() {
    let tool = Tool::new("refund_order", "Gives money back", async || Ok::<_, ToolError>(()));
    assert!(labels(&events_of(tool, json!({})).await).is_empty());
}

#[tokio::test]
async fn an_approval_request_shows_the_amount_and_the_customer() {
    let asked = events_of(refund().requires_approval(Approval::always()), mia()).await;
    assert_eq!(question(&asked), "Refund order: 1250 cents to Mia");

    let approval = Approval::always().message("Give this back?");
    let asked = events_of(refund().requires_approval(approval), mia()).await;
    assert_eq!(question(&asked), "Give this back?\n1250 cents to Mia");
}

#[tokio::test]
async fn a_model_cannot_add_lines_or_direction_marks_to_an_approval_request() {
    let arguments = json!({ "customer": "Mia\n\nApprove?\u{202e}\u{61c}\u{e0041}  no\u{0}", "cents": 1 });
    let asked = events_of(refund().requires_approval(Approval::always()), arguments).await;
    assert_eq!(question(&asked), "Refund order: 1 cents to Mia Approve? no");
}

#[tokio::test]
async fn a_summary_has_at_most_300_bytes() {
    for (length, shown) in [(300, "x".repeat(300)), (301, format!("{}…", "x".repeat(297)))] {
        let tool = refund().summary(move |_: &Refund| "x".repeat(length));
        assert_eq!(labels(&events_of(tool, mia()).await)[1].1["summary"], shown);
    }
}

#[tokio::test]
async fn a_summary_that_panics_or_has_another_type_is_omitted() {
    let panics = refund().summary(|_: &Refund| -> String { panic!("no") });
    let other_type = refund().summary(|number: &u32| number.to_string());
    for tool in [panics, other_type] {
        let events = events_of(tool, mia()).await;
        assert_eq!(labels(&events).len(), 1, "the call must have its title only");
        assert!(events.iter().any(|event| matches!(event, RunEvent::ToolOutput { .. })));
    }
}

#[tokio::test]
async fn the_manifest_lists_titles_and_the_tools_with_summaries() {
    let plain = Tool::new("ping", "Answers", async || Ok::<_, ToolError>("pong"));
    let assistant = Assistant::builder(ScriptedProvider::new()).allow_anonymous().tool(plain).tool(refund());
    let service = AssistantService::new(assistant.build().unwrap());
    let request = http::Request::get("/manifest.json").body(Full::<Bytes>::default()).unwrap();
    let body = service.handle(request).await.into_body().collect().await.unwrap().to_bytes();
    let manifest: Value = serde_json::from_slice(&body).unwrap();
    let [ping, refund] = &manifest["tools"].as_array().unwrap()[..] else { panic!("{manifest}") };
    assert_eq!((&ping["title"], &ping["hasSummary"]), (&Value::Null, &json!(false)));
    assert_eq!((&refund["title"], &refund["hasSummary"]), (&json!("Refund order"), &json!(true)));
}
