//! The hooks and the audit log of the assistant, for the calls that a program makes.

use std::fs;

use futures_util::StreamExt;
use omniassist_python::Python;
use omniassist_server::audit::{AuditLog, JsonLinesFile};
use omniassist_server::core::{RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::ToolDecision;
use omniassist_server::{Assistant, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::setup::pool;

async fn decide(call: ToolContext) -> Result<ToolDecision, ToolError> {
    Ok(match call.tool_name().as_str() {
        "refused" => ToolDecision::Refuse("Not today.".into()),
        "asked" => ToolDecision::RequireApproval(None),
        _ => ToolDecision::Allow,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_program_pass_hooks_and_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let functions = ["allowed", "refused", "asked"]
        .map(|name| Tool::new(name, "Works", move || std::future::ready(Ok::<_, ToolError>(name))));
    let code = "said = [allowed()]\n\
                for function in [refused, asked]:\n    \
                    try:\n        said.append(function())\n    \
                    except RuntimeError as error:\n        said.append(str(error))\n\
                said";
    let model = ScriptedProvider::new().turn(call("python", json!({ "code": code }))).turn(text("Done."));
    let assistant = Assistant::builder(model)
        .tool(Python::pool(pool(1).await).functions(functions).tool("python").unwrap())
        .before_tool(decide)
        .audit(AuditLog::new(JsonLinesFile::open(&path).unwrap()))
        .build()
        .unwrap();
    let mut run = assistant.run(RunRequest::prompt("Go"));
    let mut output = Value::Null;
    while let Some(event) = run.next().await {
        if let RunEvent::ToolOutput { output: given, preliminary: false, .. } = event {
            output = given.to().unwrap();
        }
    }
    drop(run);
    assistant.shutdown().await;
    let approval =
        "This call needs the user's approval, and the user's client cannot ask for it. It was not run.";
    assert_eq!(output["result"], json!(["allowed", "Not today.", approval]), "{output}");
    let records = fs::read_to_string(&path).unwrap();
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls: Vec<_> = records
        .filter(|record| record["tool"].is_string())
        .map(|record| format!("{} {}", record["action"].as_str().unwrap(), record["tool"].as_str().unwrap()))
        .collect();
    assert_eq!(
        calls,
        [
            "call_started python",
            "call_started allowed",
            "call_ended allowed",
            "call_refused asked",
            "call_ended python"
        ]
    );
}
