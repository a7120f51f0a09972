//! Tests of the client's fields that affect the request to the model.

use omniassist_server::core::{ModelOptions, ReasoningEffort, ToolChoice};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{ClientSetting, OpenAiEndpoint};
use serde_json::{Value, json};

use super::{answer, ask, asking, builder, service, show};

const ALL: [ClientSetting; 4] = [
    ClientSetting::Temperature,
    ClientSetting::TopP,
    ClientSetting::MaxTokens,
    ClientSetting::ReasoningEffort,
];

fn everything() -> Value {
    asking(json!({
        "temperature": 0.75, "top_p": 0.5, "max_completion_tokens": 50, "reasoning_effort": "high",
        "seed": 7, "stop": ["x"], "service_tier": "priority", "base_url": "http://evil.example", "extra_body": {"a": 1},
        "extra_headers": {"x": "y"}, "api_key": "k",
    }))
}

async fn asked(endpoint: OpenAiEndpoint, own: ModelOptions, body: &Value) -> ModelOptions {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = builder(&model).openai_endpoint(endpoint).model_options(own).build().unwrap();
    answer(ask(&AssistantService::new(assistant), body).await).await;
    let payload = model.payloads().pop().unwrap();
    assert_eq!(payload.model, None);
    payload.options.as_ref().clone()
}

fn own() -> ModelOptions {
    let mut own = ModelOptions::default();
    (own.temperature, own.max_output_tokens) = (Some(0.25), Some(100));
    own.extra.insert("host".to_owned(), json!(1));
    own
}

#[tokio::test]
async fn settings_are_ignored_unless_the_host_allows_them() {
    assert_eq!(asked(OpenAiEndpoint::new(), own(), &everything()).await, own());
}

#[tokio::test]
async fn only_allowed_settings_apply() {
    for setting in ALL {
        let options = asked(OpenAiEndpoint::new().allow(setting), own(), &everything()).await;
        let mut expected = own();
        match setting {
            ClientSetting::Temperature => expected.temperature = Some(0.75),
            ClientSetting::TopP => expected.top_p = Some(0.5),
            ClientSetting::MaxTokens => expected.max_output_tokens = Some(50),
            ClientSetting::ReasoningEffort => expected.reasoning_effort = Some(ReasoningEffort::High),
            _ => panic!("the setting {setting:?} needs a test"),
        }
        assert_eq!(options, expected, "{setting:?}");
    }
    let all = ALL.into_iter().fold(OpenAiEndpoint::new(), OpenAiEndpoint::allow);
    assert_eq!(asked(all, own(), &asking(json!({}))).await, own(), "an absent setting must change nothing");
}

#[tokio::test]
async fn a_token_cap_can_only_be_lowered() {
    let endpoint = || OpenAiEndpoint::new().allow(ClientSetting::MaxTokens);
    for (sent, holds) in [(99, 99), (100, 100), (101, 100)] {
        let options = asked(endpoint(), own(), &asking(json!({"max_tokens": sent}))).await;
        assert_eq!(options.max_output_tokens, Some(holds));
    }
    let free = asked(endpoint(), ModelOptions::default(), &asking(json!({"max_tokens": 7}))).await;
    assert_eq!(free.max_output_tokens, Some(7));
}

#[tokio::test]
async fn the_response_format_always_applies() {
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": {
        "type": "object", "title": "A", "properties": {"x": {"type": "string"}},
    }}});
    let options = asked(
        OpenAiEndpoint::new(),
        own(),
        &asking(json!({"response_format": format, "parallel_tool_calls": false})),
    )
    .await;
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    assert_eq!(options.response_schema, Some(("a".into(), schema)));
    assert_eq!((options.parallel_tool_calls, options.temperature), (Some(false), Some(0.25)));
}

#[tokio::test]
async fn a_required_call_leaves_only_the_callers_tools() {
    let named = json!({"type": "function", "function": {"name": "show"}});
    for (choice, tools, asked) in [
        (json!("auto"), vec!["ping", "show"], ToolChoice::Auto),
        (json!("none"), vec!["ping"], ToolChoice::Auto),
        (json!("required"), vec!["show"], ToolChoice::Required),
        (named, vec!["show"], ToolChoice::Tool("show".into())),
    ] {
        let model = ScriptedProvider::new().turn(text("Hi"));
        let body = asking(json!({"tools": [show()], "tool_choice": choice}));
        answer(ask(&service(&model), &body).await).await;
        let payload = model.payloads().pop().unwrap();
        let offered: Vec<&str> = payload.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((offered, payload.tool_choice), (tools, asked));
    }
}
