//! Tests of the audit records of calls that hooks decide about.

use std::time::Duration;

use omniassist_server::audit::AuditLog;
use omniassist_server::core::{JsonText, Limits, RunRequest};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::ToolDecision;
use omniassist_server::{Args, Assistant, AssistantBuilder, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::audit::Kept;

/// Returns the decision that the argument `do` of the call names.
async fn decide(call: ToolContext) -> Result<ToolDecision, ToolError> {
    let word = call.arguments().to_value()["do"].as_str().unwrap_or_default().to_owned();
    Ok(match word.as_str() {
        "change" => ToolDecision::Change(JsonText::from_value(&json!({ "do": "allow" }))),
        "answer" => ToolDecision::Answer(JsonText::from_str_value("cached")),
        "refuse" => ToolDecision::Refuse("Not today.".into()),
        "ask" => ToolDecision::RequireApproval(None),
        "fail" => return Err(ToolError::new("No policy service.")),
        "hang" => std::future::pending().await,
        _ => ToolDecision::Allow,
    })
}

/// Runs an assistant whose model makes these calls in turn. Returns the records of the calls, without those of the run.
async fn records(words: &[&str], setup: impl Fn(AssistantBuilder) -> AssistantBuilder) -> Vec<Value> {
    let mut model = ScriptedProvider::new();
    for word in words {
        model = model.turn(call("work", json!({ "do": word })));
    }
    let kept = Kept::default();
    let tool = Tool::new("work", "Works", async |Args(_): Args<Value>| Ok::<_, ToolError>("done"))
        .timeout(Duration::from_secs(2));
    let builder = Assistant::builder(model.turn(text("Done.")))
        .tool(tool)
        .before_tool(decide)
        .audit(AuditLog::new(kept.clone()).record_arguments(true));
    let assistant = setup(builder).build().unwrap();
    drop(assistant.run(RunRequest::prompt("Go.")).text().await);
    assistant.shutdown().await;
    let mut records = kept.json();
    records.retain(|record| !record["action"].as_str().unwrap().starts_with("run_"));
    records
}

/// Returns the actions, each with its argument and its outcome or reason.
fn told(records: &[Value]) -> Vec<String> {
    let line = |record: &Value| {
        let end = record["outcome"].as_str().or(record["reason"].as_str()).unwrap_or_default();
        let word = record["arguments"]["do"].as_str().unwrap();
        format!("{} {word} {end}", record["action"].as_str().unwrap()).trim_end().to_owned()
    };
    records.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_record_has_the_decision_of_the_hook_and_only_allowed_tools_start() {
    let words = ["allow", "change", "answer", "refuse", "fail"];
    let expected = [
        "call_started allow",
        "call_ended allow ok",
        // The tool starts with the arguments of the hook.
        "call_started allow",
        "call_ended allow ok",
        "call_answered answer",
        "call_refused refuse Not today.",
        "call_refused fail No policy service.",
    ];
    assert_eq!(told(&records(&words, |builder| builder).await), expected);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_hook_holds_for_approval_does_not_start() {
    assert_eq!(told(&records(&["ask"], |builder| builder).await), ["approval_requested ask"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_hook_does_not_return_is_refused_and_never_starts() {
    let patient = |builder: AssistantBuilder| {
        let mut limits = Limits::default();
        limits.tool_cancel_grace = Duration::from_secs(1);
        builder.limits(limits)
    };
    let records = told(&records(&["hang"], patient).await);
    assert_eq!(records.len(), 1);
    assert!(records[0].starts_with("call_refused hang "), "{records:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_later_hook_withholds_is_recorded_as_an_answer() {
    async fn withhold(_: ToolContext, _: Result<JsonText, ToolError>) -> Result<JsonText, ToolError> {
        Err(ToolError::new("Withheld."))
    }
    let records = records(&["answer", "allow"], |builder| builder.after_tool(withhold)).await;
    let expected = ["call_answered answer", "call_started allow", "call_ended allow tool_error"];
    assert_eq!(told(&records), expected);
}
