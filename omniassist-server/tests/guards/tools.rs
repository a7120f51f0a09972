use std::sync::{Arc, Mutex};

use omniassist_server::core::{JsonText, RunEvent, RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::{Approval, ToolDecision};
use omniassist_server::{Args, Assistant, AssistantBuilder, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::timed;

#[derive(Deserialize, JsonSchema)]
struct Sum {
    cents: u64,
}

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

/// Returns an assistant whose model calls a tool once. The tool logs its calls.
fn pay(log: &Log) -> (AssistantBuilder, ScriptedProvider) {
    let model = ScriptedProvider::new().turn(call("pay", json!({ "cents": 5 }))).turn(text("Done."));
    let log = Arc::clone(log);
    let tool = Tool::new("pay", "Pays", move |Args(sum): Args<Sum>| {
        note(&log, format!("pay {}", sum.cents));
        async move { Ok::<_, ToolError>(json!({ "paid": sum.cents })) }
    });
    (Assistant::builder(model.clone()).tool(tool), model)
}

/// Returns the output of the call as the model receives it, and `true` for an error.
fn read(model: &ScriptedProvider) -> (Value, bool) {
    let payloads = model.payloads();
    let transcript = &payloads.last().unwrap().transcript;
    let result = transcript.iter().find_map(|item| match item {
        TranscriptItem::Result(result) => Some((result.output.to_value(), result.is_error)),
        _ => None,
    });
    result.expect("the transcript must contain a result")
}

/// Runs the assistant with one hook before its tool. Returns the output, `true` for an error, and the tool's calls.
async fn with(
    decide: impl Fn(&ToolContext) -> ToolDecision + Send + Sync + 'static,
) -> (Value, bool, Vec<String>) {
    let log = Log::default();
    let (builder, model) = pay(&log);
    let hook = move |call: ToolContext| {
        let decision = decide(&call);
        async move { Ok::<_, ToolError>(decision) }
    };
    let assistant = builder.before_tool(hook).build().unwrap();
    assert_eq!(assistant.run(RunRequest::prompt("Pay.")).text().await.unwrap(), "Done.");
    let (output, is_error) = read(&model);
    let calls = log.lock().unwrap().clone();
    (output, is_error, calls)
}

fn arguments(value: &Value) -> ToolDecision {
    ToolDecision::Change(JsonText::from_value(value))
}

#[tokio::test]
async fn hooks_are_called_once_each_in_the_order_in_which_they_were_added() {
    let log = Log::default();
    let (mut builder, model) = pay(&log);
    for name in ["first", "second"] {
        let (before, after) = (Arc::clone(&log), Arc::clone(&log));
        builder = builder
            .after_tool(move |call: ToolContext, result: Result<JsonText, ToolError>| {
                note(&after, format!("after {name} {} {}", call.tool_name(), result.as_ref().unwrap()));
                async move { result }
            })
            .before_tool(move |call: ToolContext| {
                note(&before, format!("before {name} {}", call.arguments()));
                async move { Ok::<_, ToolError>(arguments(&json!({ "cents": 5 + name.len() }))) }
            });
    }
    let events = timed(builder.build().unwrap().run(RunRequest::prompt("Pay."))).await;
    let expected = [
        r#"before first {"cents":5}"#,
        r#"before second {"cents":10}"#,
        "pay 11",
        r#"after first pay {"paid":11}"#,
        r#"after second pay {"paid":11}"#,
    ];
    assert_eq!(*log.lock().unwrap(), expected);
    assert_eq!(read(&model), (json!({ "paid": 11 }), false));
    // The client still receives the arguments that the model wrote.
    assert!(events.iter().any(|(_, event)| matches!(
        event,
        RunEvent::ToolInputAvailable { input, .. } if input.to_value() == json!({ "cents": 5 })
    )));
}

#[tokio::test]
async fn changed_arguments_must_match_the_schema() {
    let (output, is_error, calls) = with(|_| arguments(&json!({ "cents": "all" }))).await;
    assert!(is_error && output.as_str().unwrap().contains("cents"), "{output}");
    assert_eq!(calls, [""; 0]);
}

#[tokio::test]
async fn a_hook_answers_or_refuses_in_place_of_the_tool() {
    let (output, is_error, calls) =
        with(|_| ToolDecision::Answer(JsonText::from_value(&json!(["cached"])))).await;
    assert_eq!((output, is_error, calls.len()), (json!(["cached"]), false, 0));
    let (output, is_error, calls) =
        with(|call| ToolDecision::Refuse(format!("{} may not pay.", call.run().principal()).into())).await;
    assert_eq!((output, is_error, calls.len()), (json!("anonymous may not pay."), true, 0));
}

#[tokio::test]
async fn a_hook_before_a_tool_that_panics_or_fails_refuses_the_call() {
    let (output, is_error, calls) = with(|_| panic!("a hook that panics")).await;
    assert_eq!(output, json!("This call could not be checked; it was not run."));
    assert_eq!((is_error, calls.len()), (true, 0));

    async fn fails(_: ToolContext) -> Result<ToolDecision, std::io::Error> {
        Err(std::io::Error::other("no policy service"))
    }
    let log = Log::default();
    let (builder, model) = pay(&log);
    builder.before_tool(fails).build().unwrap().run(RunRequest::prompt("Pay.")).text().await.unwrap();
    assert_eq!(read(&model), (json!("The tool failed."), true));
    assert_eq!(log.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_hook_after_a_tool_changes_its_output_and_a_panic_withholds_it() {
    async fn redact(_: ToolContext, result: Result<JsonText, ToolError>) -> Result<JsonText, ToolError> {
        result.map(|_| JsonText::from_value(&json!("[hidden]")))
    }
    async fn panics(_: ToolContext, _: Result<JsonText, ToolError>) -> Result<JsonText, ToolError> {
        panic!("a hook that panics")
    }
    let log = Log::default();
    let (builder, model) = pay(&log);
    let events = timed(builder.after_tool(redact).build().unwrap().run(RunRequest::prompt("Pay."))).await;
    assert_eq!(read(&model), (json!("[hidden]"), false));
    assert!(!format!("{events:?}").contains("paid"));

    let (builder, model) = pay(&log);
    builder.after_tool(panics).build().unwrap().run(RunRequest::prompt("Pay.")).text().await.unwrap();
    let (output, is_error) = read(&model);
    assert!(is_error && output.as_str().unwrap().contains("withheld"), "{output}");
    assert_eq!(*log.lock().unwrap(), ["pay 5", "pay 5"]);
}

#[tokio::test]
async fn a_hook_reads_the_arguments_as_a_type() {
    let (output, _, _) = with(|call| match call.args::<Sum>() {
        Ok(sum) => ToolDecision::Answer(JsonText::from_value(&json!(sum.cents + 1))),
        Err(error) => ToolDecision::Refuse(error.text().into()),
    })
    .await;
    assert_eq!(output, json!(6));

    #[derive(Debug, Deserialize)]
    struct Stricter {
        #[expect(dead_code, reason = "only its type counts")]
        cents: bool,
    }
    let (output, is_error, calls) =
        with(|call| ToolDecision::Refuse(call.args::<Stricter>().unwrap_err().text().into())).await;
    assert!(is_error && output.to_string().contains("expected a boolean"), "{output}");
    assert!(calls.is_empty());
}

#[tokio::test]
async fn an_output_of_a_hook_is_limited_like_that_of_the_tool() {
    let model = ScriptedProvider::new().turn(call("small", json!({}))).turn(text("Done."));
    let tool = Tool::new("small", "Says little", async || Ok::<_, ToolError>("ok")).max_output_bytes(100);
    let answer = |_: ToolContext| async {
        Ok::<_, ToolError>(ToolDecision::Answer(JsonText::from_str_value(&"x".repeat(1_000))))
    };
    let assistant = Assistant::builder(model.clone()).tool(tool).before_tool(answer).build().unwrap();
    assistant.run(RunRequest::prompt("?")).text().await.unwrap();
    let (output, _) = read(&model);
    assert!(output.to_string().len() <= 100, "{output}");
}

#[tokio::test]
async fn a_hook_cannot_change_arguments_so_that_they_need_an_approval() {
    let log = Log::default();
    let ran = Arc::clone(&log);
    let model = ScriptedProvider::new().turn(call("pay", json!({ "cents": 5 }))).turn(text("Done."));
    let tool = Tool::new("pay", "Pays", move |Args(sum): Args<Sum>| {
        note(&ran, format!("pay {}", sum.cents));
        async { Ok::<_, ToolError>("paid") }
    })
    .requires_approval(Approval::when(|sum: &Sum, _: &omniassist_server::Principal| sum.cents > 100));
    let more = |_: ToolContext| async { Ok::<_, ToolError>(arguments(&json!({ "cents": 101 }))) };
    let assistant = Assistant::builder(model.clone()).tool(tool).before_tool(more).build().unwrap();
    assistant.run(RunRequest::prompt("Pay.")).text().await.unwrap();
    assert!(read(&model).1);
    assert_eq!(log.lock().unwrap().len(), 0);
}
