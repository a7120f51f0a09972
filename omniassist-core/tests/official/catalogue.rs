//! A list of all events with all combinations of their optional fields.

use std::collections::BTreeSet;

use omniassist_core::event::{
    AgentDelta, AgentState, AgentStatus, ApprovalRequest, BlockId, ComponentEvent, EmittedEvent,
    FinishReason, InputRequest, InstanceState, RunErrorCode, ShownComponent, ShownStatus, Source, Usage,
};
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{JsonText, RunEvent, Text, ToolApp};
use serde_json::{Map, Value, json};

type Metadata = Option<Map<String, Value>>;

/// A text with characters that need escaping, line breaks and non-ASCII characters.
const TEXT: &str = "a \"quoted\" \\ line\nbreak\r\u{2028}\u{0}\u{7f}\u{feff}é🦀";

fn text() -> Text {
    Text::from_static(TEXT)
}

fn call_id() -> Text {
    "call_1".into()
}

fn name() -> Text {
    "order-status".into()
}

/// Returns provider state in the accepted two-level form and in rejected forms.
fn states() -> Vec<Option<ProviderMetadata>> {
    let states = [
        json!({}),
        json!({ "openai": {} }),
        json!({ "openai": { "itemId": TEXT, "none": null, "deep": { "er": [1, null] } }, "google": { "a": 1 } }),
        json!({ "flat": 1, "none": null, "list": [], "openai": { "itemId": "i" } }),
        json!({ "openai": { "__proto__": { "x": 1 } }, "__proto__": { "a": { "b": 1 } } }),
    ];
    std::iter::once(None).chain(states.map(|state| serde_json::from_value(state).unwrap())).collect()
}

/// Returns metadata of a message.
fn metadata() -> Vec<Metadata> {
    let metadata = [json!({}), json!({ "none": null, "list": [null], "deep": { "er": TEXT } })];
    std::iter::once(None).chain(metadata.into_iter().map(|state| state.as_object().cloned())).collect()
}

fn values() -> Vec<JsonText> {
    let values = ["null", "{}", "[]", "\"\"", "0", "-1.5e-7", "true", r#"{"a":null,"b":[{"c":"\u00fc\n"}]}"#];
    values.into_iter().map(|value| JsonText::parse(value).unwrap()).collect()
}

fn usages() -> Vec<Usage> {
    let mut some = Usage::default();
    some.input_tokens = Some(0);
    let all = json!({
        "inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "cachedInputTokens": 4, "reasoningTokens": 5,
    });
    vec![Usage::default(), some, serde_json::from_value(all).unwrap()]
}

fn reasons() -> Vec<FinishReason> {
    let other = [
        FinishReason::Other(text()),
        FinishReason::Other("".into()),
        FinishReason::Other("tool_calls".into()),
    ];
    let known = [
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::Refusal,
        FinishReason::Pause,
        FinishReason::Error,
        FinishReason::Interrupted,
    ];
    known.into_iter().chain(other).collect()
}

fn codes() -> [RunErrorCode; 17] {
    [
        RunErrorCode::ProviderError,
        RunErrorCode::ProviderAuth,
        RunErrorCode::ProviderUnavailable,
        RunErrorCode::RateLimited,
        RunErrorCode::ContextOverflow,
        RunErrorCode::StreamInterrupted,
        RunErrorCode::Timeout,
        RunErrorCode::MaxSteps,
        RunErrorCode::InvalidToolCalls,
        RunErrorCode::InvalidAnswer,
        RunErrorCode::LimitExceeded,
        RunErrorCode::InvalidRequest,
        RunErrorCode::Internal,
        RunErrorCode::ServerShutdown,
        RunErrorCode::TokenBudgetExceeded,
        RunErrorCode::LimitsUnavailable,
        RunErrorCode::Refused("no_credits"),
    ]
}

const FLAGS: [bool; 2] = [false, true];

/// Returns all events.
pub(crate) fn events() -> Vec<RunEvent> {
    let mut events = vec![
        RunEvent::StepStart,
        RunEvent::StepReset,
        RunEvent::TextStart { id: BlockId(0) },
        RunEvent::TextDelta { id: BlockId(u32::MAX), delta: text() },
        RunEvent::ReasoningStart { id: BlockId(0) },
        RunEvent::ReasoningDelta { id: BlockId(7), delta: text() },
        RunEvent::ToolInputStart { call_id: call_id(), name: name(), title: None, app: None },
        RunEvent::ToolInputStart {
            call_id: call_id(),
            name: name(),
            title: Some(text()),
            app: Some(Box::new(ToolApp::new("docs", "ui://app/view"))),
        },
        RunEvent::ToolInputDelta { call_id: text(), delta: text() },
        RunEvent::OutputSeal { call_id: call_id(), seal: "v1.k.0.AAAA".into() },
        RunEvent::OutputSeal { call_id: "__proto__".into(), seal: "v1.k.0.AAAA".into() },
        RunEvent::StateSnapshot(JsonText::EMPTY_OBJECT),
        RunEvent::StateDelta(JsonText::parse("[]").unwrap()),
        RunEvent::ActivitySnapshot { id: "a".into(), kind: "k".into(), content: JsonText::EMPTY_OBJECT },
        RunEvent::Abort { reason: text() },
        RunEvent::Abort { reason: "".into() },
        RunEvent::File { media_type: "image/png".into(), url: "data:image/png;base64,AA==".into() },
    ];
    for metadata in metadata() {
        events.push(RunEvent::Start { message_id: "msg_1".into(), metadata: metadata.clone() });
        events.extend(metadata.map(RunEvent::Metadata));
    }
    for metadata in states() {
        events.push(RunEvent::TextEnd { id: BlockId(1), metadata: metadata.clone() });
        events.push(RunEvent::ReasoningEnd { id: BlockId(1), metadata: metadata.clone() });
        for input in values() {
            for provider_executed in FLAGS {
                events.push(RunEvent::ToolInputAvailable {
                    call_id: call_id(),
                    name: name(),
                    input: input.clone(),
                    provider_executed,
                    metadata: metadata.clone(),
                });
            }
            events.push(RunEvent::ToolInputError {
                call_id: call_id(),
                name: name(),
                input,
                error_text: text(),
                metadata: metadata.clone(),
            });
        }
    }
    for provider_executed in FLAGS {
        for output in values() {
            for preliminary in FLAGS {
                let output = output.clone();
                events.push(RunEvent::ToolOutput {
                    call_id: call_id(),
                    output,
                    preliminary,
                    provider_executed,
                });
            }
        }
        events.push(RunEvent::ToolError { call_id: call_id(), error_text: text(), provider_executed });
    }
    for reason in reasons() {
        for usage in usages() {
            events.push(RunEvent::StepFinish { reason: reason.clone(), usage });
            events.push(RunEvent::Finish { reason: reason.clone(), usage });
        }
    }
    events.extend(codes().map(|code| RunEvent::Error { code, message: text() }));
    asked(&mut events);
    shown(&mut events);
    events
}

/// Adds requests to the user, and their answers.
fn asked(events: &mut Vec<RunEvent>) {
    for message in [None, Some(text())] {
        for signature in [None, Some(Text::from_static("v1.k.0.AAAA"))] {
            for editable in FLAGS {
                let mut request = ApprovalRequest::new(call_id(), name(), JsonText::EMPTY_OBJECT);
                request.message.clone_from(&message);
                request.signature.clone_from(&signature);
                request.editable = editable;
                request.expires_at_ms = editable.then_some(1);
                events.push(RunEvent::ToolApprovalRequest(request));
            }
        }
        events.push(RunEvent::ToolDenied { call_id: call_id(), reason: message.clone() });
        let form = InputRequest::new(call_id(), message, JsonText::EMPTY_OBJECT);
        events.push(RunEvent::InputRequest(form));
    }
    events.push(RunEvent::ToolRefused { call_id: call_id(), reason: text() });
}

/// Adds parts other than text and calls.
fn shown(events: &mut Vec<RunEvent>) {
    for optional in [None, Some(text())] {
        let (id, url) = (Text::from_static("s"), Text::from_static("https://example.org/?a=\"b\""));
        events.push(RunEvent::Source(Source::Url { id: id.clone(), url, title: optional.clone() }));
        let (media_type, title) = (Text::from_static("application/pdf"), text());
        events.push(RunEvent::Source(Source::Document { id, media_type, title, filename: optional.clone() }));
        for data in values() {
            for transient in FLAGS {
                let (id, data) = (optional.clone(), data.clone());
                events.push(RunEvent::Data { name: "statement".into(), id, data, transient });
            }
        }
    }
    components(events);
    agents(events);
}

fn components(events: &mut Vec<RunEvent>) {
    let instance = || Text::from_static("card_1");
    let statuses = [ShownStatus::Streaming, ShownStatus::Complete, ShownStatus::Error];
    let each = |status| values().into_iter().map(move |props| (status, props));
    for (status, props) in statuses.into_iter().flat_map(each) {
        let mut shown = ShownComponent::complete("card", props.clone());
        shown.status = status;
        shown.error = (status == ShownStatus::Error).then(text);
        let mut state = InstanceState::new("card");
        state.seal = (status == ShownStatus::Complete).then(text);
        state.server = (status == ShownStatus::Complete).then_some(JsonText::EMPTY_OBJECT);
        let emitted = EmittedEvent::new(instance(), "rendered", props);
        events.extend(
            [
                ComponentEvent::Shown { instance: instance(), shown },
                ComponentEvent::State { instance: instance(), state },
                ComponentEvent::Text { instance: instance(), text: text() },
                ComponentEvent::Emitted(emitted),
            ]
            .map(|event| RunEvent::Component(Box::new(event))),
        );
    }
}

fn agents(events: &mut Vec<RunEvent>) {
    let statuses = [
        AgentStatus::Running,
        AgentStatus::Completed,
        AgentStatus::Incomplete,
        AgentStatus::Failed,
        AgentStatus::Cancelled,
    ];
    let ids = [Text::from_static("agent_1"), text()];
    for (status, id) in statuses.into_iter().flat_map(|status| ids.clone().map(|id| (status, id))) {
        let mut state = AgentState::begun(id, name(), call_id(), text());
        state.status = status;
        events.push(RunEvent::AgentState(Box::new(state.clone())));
        (state.parent_id, state.reason, state.text) = (Some("agent_0".into()), Some(text()), Some(text()));
        state.usage = usages().pop();
        events.push(RunEvent::AgentState(Box::new(state)));
    }
    let mut deltas = vec![AgentDelta::Text { delta: text() }];
    deltas.extend(values().into_iter().map(|input| AgentDelta::ToolCall {
        tool_call_id: call_id(),
        tool_name: name(),
        input,
    }));
    deltas.extend(FLAGS.map(|failed| AgentDelta::ToolEnd { tool_call_id: call_id(), failed }));
    events.extend(deltas.into_iter().map(|delta| RunEvent::AgentDelta { agent_id: "agent_1".into(), delta }));
}

/// Returns the names of an enum's variants from its source.
fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let word = |line: &str| {
        let word: String =
            line.strip_prefix("    ")?.chars().take_while(char::is_ascii_alphanumeric).collect();
        word.starts_with(|first: char| first.is_ascii_uppercase()).then_some(word)
    };
    body.lines().filter_map(word).collect()
}

fn names<T: std::fmt::Debug>(values: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    let name = |value: T| format!("{value:?}").chars().take_while(char::is_ascii_alphanumeric).collect();
    values.into_iter().map(name).collect()
}

#[test]
fn the_catalogue_contains_every_event() {
    let runs = include_str!("../../src/event/run.rs");
    let model = include_str!("../../src/event/llm.rs");
    assert_eq!(names(events()), variants(runs, "RunEvent"));
    assert_eq!(names(codes()), variants(runs, "RunErrorCode"));
    assert_eq!(names(reasons()), variants(model, "FinishReason"));
}
