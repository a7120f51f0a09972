use std::collections::BTreeSet;

use http::{Extensions, HeaderValue};
use omniassist_server::core::{JsonText, RunRequest};
use omniassist_server::tool::{Tool, ToolContext, ToolError, ToolInvocation};
use omniassist_server::{Principal, RunContext};

use super::{Bench, no_tools};

async fn key(call: ToolContext) -> Result<String, ToolError> {
    Ok(call.idempotency_key())
}

fn tool() -> Tool {
    Tool::new("key", "Returns the key", key)
}

fn run() -> RunContext {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    RunContext::for_request(RunRequest::new(Vec::new()), extensions)
}

async fn key_of(run: &RunContext, call_id: &str) -> String {
    let tools = Bench::new().tools(tool());
    let snapshot = tools.snapshot();
    let call = ToolInvocation::new(call_id, JsonText::EMPTY_OBJECT, run.clone());
    let outcome = tools.start(snapshot.get("key").unwrap(), call).outcome().await;
    outcome.result.unwrap().to().unwrap()
}

#[test]
fn a_call_runs_again_only_if_its_tool_allows_it() {
    for (tool, expected) in [(tool(), false), (tool().read_only(), true), (tool().idempotent(), true)] {
        let snapshot = Bench::new().tools(tool).snapshot();
        assert_eq!(snapshot.get("key").unwrap().may_run_again(), expected);
    }
    for front_end in [Tool::request_input().read_only(), Tool::request_input().idempotent()] {
        let error = no_tools().register(front_end).unwrap_err();
        assert!(error.to_string().contains("the server never runs it again"), "{error}");
    }
}

#[tokio::test]
async fn the_idempotency_key_is_that_of_the_run_and_the_call() {
    let (run, other) = (run(), run());
    let first = key_of(&run, "call-1").await;
    assert_eq!(first, format!("{}/call-1", run.run_id()));
    assert_eq!(first, key_of(&run, "call-1").await);
    let keys = BTreeSet::from([first, key_of(&run, "call-2").await, key_of(&other, "call-1").await]);
    assert_eq!(keys.len(), 3);
}

#[tokio::test]
async fn an_idempotency_key_is_a_header_value_for_every_id() {
    let run = run();
    let room = 255 - run.run_id().len() - 1;
    assert!(key_of(&run, &"a".repeat(room)).await.ends_with(&"a".repeat(room)));
    let ids =
        ["a".repeat(room + 1), "b".repeat(room + 1), String::new(), "a b".into(), "\n".into(), "ü/\"".into()];
    let mut keys = BTreeSet::new();
    for id in &ids {
        let key = key_of(&run, id).await;
        assert!(
            key.len() <= 255 && HeaderValue::try_from(&key).is_ok() && !key.contains([' ', '"']),
            "{key}"
        );
        keys.insert(key);
    }
    assert_eq!(keys.len(), ids.len());
}
