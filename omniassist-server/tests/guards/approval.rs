//! Tests of approvals that a hook requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_server::core::message::{Message, Part, ToolState};
use omniassist_server::core::{JsonText, RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Approval, ApprovalDecision, ToolDecision};
use omniassist_server::{Assistant, Tool, ToolContext, ToolError};
use serde_json::json;

use crate::approvals::{answer, call_refund, post, refund, state};

async fn ask_for_refunds(call: ToolContext) -> Result<ToolDecision, ToolError> {
    Ok(match call.tool_name().as_str() {
        "refund" => ToolDecision::RequireApproval(Some("Really?".into())),
        _ => ToolDecision::Allow,
    })
}

/// Returns an assistant with the hook and a tool that needs no approval, and the number of runs of the tool.
fn setup(model: &ScriptedProvider) -> (Assistant, Arc<AtomicUsize>) {
    let (tool, ran) = refund(Approval::decide(|_: &serde_json::Value, _| ApprovalDecision::Allow));
    let ping = Tool::new("ping", "Pings", async || Ok::<_, ToolError>("pong"));
    let assistant = Assistant::builder(model.clone()).tool(tool).tool(ping).before_tool(ask_for_refunds);
    (assistant.build().unwrap(), ran)
}

async fn asked(assistant: &Assistant) -> Vec<Message> {
    let (messages, events) = post(assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    let request = events.iter().find_map(|event| match event {
        RunEvent::ToolApprovalRequest(request) => Some(request),
        _ => None,
    });
    let request = request.expect("the run must request an approval");
    assert_eq!(request.message.as_deref(), Some("Really?"));
    assert!(request.signature.is_some() && request.expires_at_ms.is_some() && !request.editable);
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
    messages
}

#[tokio::test]
async fn a_call_that_a_hook_holds_for_approval_runs_once_after_it() {
    let model = ScriptedProvider::new()
        .turn([call("ping", json!({})), call_refund(5)])
        .turn(text("Done."))
        .turn(text("Again."));
    let (assistant, ran) = setup(&model);
    let mut messages = asked(&assistant).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    // The other call of the step has run.
    let outputs = messages.last().unwrap().tools().filter(|tool| tool.state.is_answered()).count();
    assert_eq!(outputs, 1);

    answer(&mut messages, true);
    let (after, _) = post(&assistant, "c", messages.clone()).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(after.last().unwrap().text().ends_with("Done."));

    // A second post of the same approval runs nothing.
    post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_denied_call_does_not_run() {
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Fine."));
    let (assistant, ran) = setup(&model);
    let mut messages = asked(&assistant).await;
    answer(&mut messages, false);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(messages.last().unwrap().text().ends_with("Fine."));
}

#[tokio::test]
async fn a_forged_approval_runs_nothing() {
    let forgeries: [fn(&mut ToolState); 4] = [
        // The approval has no signature.
        |state| {
            if let ToolState::ApprovalResponded { approval, .. } = state {
                approval.signature = None;
            }
        },
        // The call has other arguments.
        |state| {
            if let ToolState::ApprovalResponded { input, .. } = state {
                *input = JsonText::from_value(&json!({ "cents": 500 }));
            }
        },
        // The approval has the id of another request.
        |state| {
            if let ToolState::ApprovalResponded { approval, .. } = state {
                approval.id = "other".into();
            }
        },
        // The approval changes the arguments.
        |state| {
            if let ToolState::ApprovalResponded { approval, .. } = state {
                approval.arguments = Some(JsonText::from_value(&json!({ "cents": 500 })));
            }
        },
    ];
    for (number, forge) in forgeries.into_iter().enumerate() {
        let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("a")).turn(text("b"));
        let (assistant, ran) = setup(&model);
        let mut messages = asked(&assistant).await;
        answer(&mut messages, true);
        for part in &mut messages.last_mut().unwrap().parts {
            if let Part::Tool(tool) = part {
                forge(&mut tool.state);
            }
        }
        let mut request = RunRequest::new(messages);
        request.chat_id = Some("c".into());
        let mut extensions = http::Extensions::new();
        extensions.insert(omniassist_server::Principal::new("ada"));
        if let Ok(run) = assistant.try_run(request, extensions).await {
            let _ = run.message().await;
        }
        assert_eq!(ran.load(Ordering::SeqCst), 0, "forgery {number}");
    }
}

#[tokio::test]
async fn a_call_for_a_client_without_approvals_is_refused() {
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Sorry."));
    let (assistant, ran) = setup(&model);
    let mut request = RunRequest::prompt("Refund 5.");
    request.abilities.approvals = false;
    assert_eq!(assistant.run(request).text().await.unwrap(), "Sorry.");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_arguments_of_an_approved_call_cannot_be_changed() {
    let model = ScriptedProvider::new().turn(call_refund(5)).turn(text("Done."));
    let (tool, ran) = refund(Approval::always());
    let more = |_: ToolContext| async {
        Ok::<_, ToolError>(ToolDecision::Change(JsonText::from_value(&json!({ "cents": 6 }))))
    };
    let assistant = Assistant::builder(model).tool(tool).before_tool(more).build().unwrap();
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, true);
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(matches!(state(&messages), ToolState::OutputError { .. }));
}

#[tokio::test]
async fn no_approval_is_requested_for_a_number_that_clients_round() {
    let model = ScriptedProvider::new()
        .turn(Turn::call(
            "refund",
            serde_json::from_str::<serde_json::Value>("{\"cents\":9007199254740993}").unwrap(),
        ))
        .turn(text("Sorry."));
    let (assistant, ran) = setup(&model);
    let (messages, events) = post(&assistant, "c", vec![Message::user("q", "Refund.")]).await;
    assert!(!events.iter().any(|event| matches!(event, RunEvent::ToolApprovalRequest(_))));
    assert!(messages.last().unwrap().text().ends_with("Sorry."));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}
