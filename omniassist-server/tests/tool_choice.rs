//! Tests of the model's settings and tool choice in requests.

use std::sync::Arc;
use std::time::Duration;

use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::message::{Message, Part, Role, ToolPart, ToolState};
use omniassist_server::core::run::{ClientAbilities, ToolUse};
use omniassist_server::core::{
    HistoryPart, JsonText, ModelOptions, RunRequest, ToolChoice, ToolSpec, Verdict, Verifier,
};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, Error, ProviderErrorKind, Tool, ToolError};
use serde_json::json;

async fn ping() -> Result<&'static str, ToolError> {
    Ok("pong")
}

fn spec(name: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, "Mine", json!({"type": "object", "properties": {}})).front_end())
}

/// Returns a conversation in which a tool of this name has run.
fn after_call(name: &str) -> RunRequest {
    let (input, output) = (JsonText::EMPTY_OBJECT, JsonText::from_str_value("forged or not"));
    let call = ToolPart {
        call_id: "c1".into(),
        name: name.into(),
        dynamic: false,
        provider_executed: false,
        state: ToolState::OutputAvailable { input, output, preliminary: false },
        metadata: None,
    };
    let answer =
        Message { id: "m2".into(), role: Role::Assistant, parts: vec![Part::Tool(call)], metadata: None };
    RunRequest::new(vec![Message::user("m1", "Go"), answer])
}

/// Trusts no output of a tool.
struct NoOutputs;

impl Verifier for NoOutputs {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        if matches!(part.part, Part::Tool(_)) { Verdict::Distrust } else { Verdict::Accept }
    }
}

fn offered(model: &ScriptedProvider) -> Vec<String> {
    model.payloads().last().unwrap().tools.iter().map(|tool| tool.name.to_string()).collect()
}

#[tokio::test]
async fn settings_of_a_run_replace_those_of_the_assistant() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let mut options = ModelOptions::default();
    options.temperature = Some(0.25);
    let assistant = Assistant::builder(model.clone()).model_options(options).build().unwrap();
    assert_eq!(assistant.model_options().temperature, Some(0.25));

    assistant.run(RunRequest::prompt("Hi")).text().await.unwrap();
    assert_eq!(model.payloads()[0].options.temperature, Some(0.25));

    let mut request = RunRequest::prompt("Hi");
    let mut options = ModelOptions::default();
    options.max_output_tokens = Some(7);
    request.options = Some(Arc::new(options));
    assistant.run(request).text().await.unwrap();
    let payloads = model.payloads();
    assert_eq!((payloads[1].options.temperature, payloads[1].options.max_output_tokens), (None, Some(7)));
}

#[tokio::test]
async fn each_model_call_of_a_run_has_its_tool_choice() {
    let model = ScriptedProvider::new().turn(call("ping", json!({}))).turn(text("Done"));
    let assistant = Assistant::builder(model.clone()).tool(Tool::new("ping", "Ping", ping)).build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.tool_use.choice = ToolChoice::Tool("ping".into());
    assistant.run(request).text().await.unwrap();
    let choices: Vec<_> = model.payloads().into_iter().map(|payload| payload.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Tool("ping".into()), ToolChoice::Tool("ping".into())]);
}

#[tokio::test]
async fn a_run_without_server_tools_offers_and_runs_none() {
    let model = ScriptedProvider::new().turn(call("ping", json!({}))).turn(text("Done"));
    let assistant = Assistant::builder(model.clone()).tool(Tool::new("ping", "Ping", ping)).build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.tool_use = ToolUse::without_server_tools();
    request.tools = vec![spec("show")];
    let message = assistant.run(request).message().await.unwrap();
    assert_eq!(offered(&model), ["show"]);
    let state = &message.tools().next().unwrap().state;
    assert!(matches!(state, ToolState::OutputError { .. }), "{state:?}");

    let mut request = RunRequest::prompt("Hi");
    request.tool_use = ToolUse::without_server_tools();
    request.tools = vec![spec("ping")];
    assert!(
        assistant.try_run(request, http::Extensions::new()).await.is_err(),
        "the names of server tools must stay reserved"
    );
}

#[tokio::test]
async fn a_past_tool_of_the_client_is_trusted_and_not_offered() {
    let model = ScriptedProvider::new().turn(call("show", json!({}))).turn(text("Done"));
    let assistant = Assistant::builder(model.clone())
        .tool(Tool::new("ping", "Ping", ping))
        .verifier(NoOutputs)
        .build()
        .unwrap();
    let mut request = after_call("show");
    request.past_tools = vec!["show".into()];
    request.abilities = ClientAbilities::default().without_seals();
    let message = assistant.try_run(request, http::Extensions::new()).await.unwrap().message().await.unwrap();
    assert_eq!(offered(&model), ["ping"]);
    assert!(format!("{:?}", model.payloads()[0].transcript).contains("forged or not"));
    let call = message.tools().last().unwrap();
    assert!(
        matches!(call.state, ToolState::OutputError { .. }),
        "a new call of a past tool must be refused: {call:?}"
    );
}

#[tokio::test]
async fn a_client_cannot_declare_a_server_tool_as_a_past_tool() {
    for server_tools in [true, false] {
        let model = ScriptedProvider::new().turn(text("Done"));
        let assistant = Assistant::builder(model.clone())
            .tool(Tool::new("ping", "Ping", ping))
            .verifier(NoOutputs)
            .build()
            .unwrap();
        let mut request = after_call("ping");
        request.past_tools = vec!["ping".into()];
        request.tool_use.server_tools = server_tools;
        request.abilities = ClientAbilities::default().without_seals();
        assistant.try_run(request, http::Extensions::new()).await.unwrap().message().await.unwrap();
        let told = format!("{:?}", model.payloads()[0].transcript);
        assert!(!told.contains("forged or not"), "{told}");
    }
}

#[tokio::test]
async fn the_error_of_a_run_has_the_delay_that_the_provider_requests() {
    let busy = Error::provider(ProviderErrorKind::RateLimited).with_retry_after(Duration::from_secs(7));
    let model = ScriptedProvider::new().turn(Turn::error(busy)).turn(Turn::interrupted());
    let assistant = Assistant::builder(model).build().unwrap();
    let failure = assistant.run(RunRequest::prompt("Hi")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::RateLimited));
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(7)));
    let failure = assistant.run(RunRequest::prompt("Hi")).text().await.unwrap_err();
    assert_eq!(failure.retry_after(), None);
}

#[tokio::test]
async fn a_call_of_an_unknown_tool_is_answered_with_the_list_of_tools() {
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Sorry"));
    let assistant = Assistant::builder(model.clone()).tool(Tool::new("ping", "d", ping)).build().unwrap();
    assistant.run(RunRequest::prompt("Refund.")).text().await.unwrap();
    let heard = format!("{:?}", model.payloads()[1].transcript);
    assert!(heard.contains("There is no tool of this name. The tools are: ping."), "{heard}");
}
