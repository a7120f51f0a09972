//! Random messages and runs.

use omniassist_core::event::{BlockId, FinishReason, RunErrorCode, Source, Usage};
use omniassist_core::message::{
    Approval, DataPart, Decision, FilePart, Message, Part, ProviderMetadata, ReasoningPart, Role, SourcePart,
    TextPart, ToolPart, ToolState,
};
use omniassist_core::{JsonText, RunEvent, Text};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Returns text with characters that need escaping.
pub(crate) fn text() -> impl Strategy<Value = Text> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,12}".boxed(),
        1 => any::<String>().boxed(),
        1 => "[\\x00-\\x1f\"\\\\\u{7f}/\u{2028}\u{2029}\u{FEFF}😀é]{0,6}".boxed(),
    ];
    vec(piece, 0..4).prop_map(|pieces| pieces.concat().into())
}

fn delta() -> impl Strategy<Value = Text> {
    text().prop_filter("a delta is never empty", |text| !text.is_empty())
}

fn word() -> impl Strategy<Value = Text> {
    "[a-z][a-z0-9-]{0,8}".prop_map(Text::from)
}

pub(crate) fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(|text| Value::from(text.as_str())),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((word(), inner), 0..4).prop_map(|entries| object(entries).into()),
        ]
    })
}

fn object(entries: Vec<(Text, Value)>) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

pub(crate) fn json_text() -> impl Strategy<Value = JsonText> {
    tree().prop_map(|value| JsonText::from_value(&value))
}

fn state() -> impl Strategy<Value = Option<ProviderMetadata>> {
    option::of(vec((word(), vec((word(), tree()), 0..3)), 0..3).prop_map(|providers| {
        object(providers.into_iter().map(|(name, state)| (name, object(state).into())).collect()).into()
    }))
}

fn approval() -> impl Strategy<Value = Approval> {
    (text(), any::<bool>())
        .prop_map(|(id, approved)| Approval::new(id).decided(Decision { approved, reason: None }))
}

fn tool_state() -> impl Strategy<Value = ToolState> {
    let json = json_text;
    prop_oneof![
        Just(ToolState::InputStreaming),
        json().prop_map(|input| ToolState::InputAvailable { input }),
        (json(), approval()).prop_map(|(input, approval)| ToolState::ApprovalRequested { input, approval }),
        (json(), approval()).prop_map(|(input, approval)| ToolState::ApprovalResponded { input, approval }),
        (json(), json(), any::<bool>()).prop_map(|(input, output, preliminary)| ToolState::OutputAvailable {
            input,
            output,
            preliminary
        }),
        (option::of(json()), text())
            .prop_map(|(input, error_text)| ToolState::OutputError { input, error_text }),
        (json(), approval()).prop_map(|(input, approval)| ToolState::OutputDenied { input, approval }),
    ]
}

pub(crate) fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        (text(), text(), option::of(text())).prop_map(|(id, url, title)| Source::Url { id, url, title }),
        (text(), text(), text(), option::of(text())).prop_map(|(id, media_type, title, filename)| {
            Source::Document { id, media_type, title, filename }
        }),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        (text(), state()).prop_map(|(text, metadata)| Part::Text(TextPart { text, metadata })),
        (text(), state()).prop_map(|(text, metadata)| Part::Reasoning(ReasoningPart { text, metadata })),
        (text(), text(), option::of(text()), state()).prop_map(|(media_type, url, filename, metadata)| {
            Part::File(FilePart { media_type, url, filename, metadata })
        }),
        (source(), state()).prop_map(|(source, metadata)| Part::Source(SourcePart { source, metadata })),
        (text(), any::<bool>(), any::<bool>(), tool_state(), state()).prop_map(
            |(name, dynamic, provider_executed, state, metadata)| {
                let call_id = Text::new();
                Part::Tool(ToolPart { call_id, name, dynamic, provider_executed, state, metadata })
            }
        ),
        (text(), option::of(text()), json_text()).prop_map(|(name, id, data)| Part::Data(DataPart {
            name,
            id,
            data
        })),
        Just(Part::StepStart),
        (word(), tree()).prop_map(|(kind, value)| {
            Part::Unknown(JsonText::from_value(&json!({"type": format!("x-{kind}"), "value": value})))
        }),
    ]
}

/// Returns a conversation with distinct ids.
pub(crate) fn messages() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::System)];
    let metadata = option::of(tree().prop_filter("null stands for none", |value| !value.is_null()));
    vec((role, vec(part(), 0..6), metadata), 0..5).prop_map(|messages| {
        let mut calls = 0;
        let mut message =
            |(index, (role, mut parts, metadata)): (usize, (Role, Vec<Part>, Option<Value>))| {
                for part in &mut parts {
                    if let Part::Tool(tool) = part {
                        calls += 1;
                        tool.call_id = format!("call-{calls}").into();
                    }
                }
                Message { id: format!("m{index}").into(), role, parts, metadata }
            };
        messages.into_iter().enumerate().map(&mut message).collect()
    })
}

/// An action within a step, which [`run`] expands into events.
#[derive(Debug, Clone)]
enum Act {
    Text(bool, Vec<Text>, Option<ProviderMetadata>),
    Call {
        name: Text,
        deltas: Vec<Text>,
        input: JsonText,
        provider_executed: bool,
        metadata: Option<ProviderMetadata>,
        end: CallEnd,
    },
    Source(Source),
    File(Text, Text),
    Data(Text, Option<Text>, JsonText, bool),
    Metadata(Map<String, Value>),
}

#[derive(Debug, Clone)]
enum CallEnd {
    Cut,
    Open,
    Unusable(Text),
    Output(Vec<JsonText>, JsonText),
    Failed(Text),
}

fn act() -> impl Strategy<Value = Act> {
    let end = prop_oneof![
        Just(CallEnd::Cut),
        Just(CallEnd::Open),
        text().prop_map(CallEnd::Unusable),
        (vec(json_text(), 0..3), json_text())
            .prop_map(|(progress, output)| CallEnd::Output(progress, output)),
        text().prop_map(CallEnd::Failed),
    ];
    let call = (text(), vec(delta(), 0..3), json_text(), any::<bool>(), state(), end);
    // The number of names and ids is small, so that some data replaces other data.
    let data = ("[ab]", option::of("[xy]".prop_map(Text::from)), json_text(), any::<bool>());
    prop_oneof![
        3 => (any::<bool>(), vec(delta(), 0..5), state()).prop_map(|(reasoning, deltas, state)| Act::Text(reasoning, deltas, state)),
        3 => call.prop_map(|(name, deltas, input, provider_executed, metadata, end)| Act::Call {
            name, deltas, input, provider_executed, metadata, end,
        }),
        1 => source().prop_map(Act::Source),
        1 => (text(), text()).prop_map(|(media_type, url)| Act::File(media_type, url)),
        1 => data.prop_map(|(name, id, data, transient)| Act::Data(name.into(), id, data, transient)),
        1 => vec(("[abc]".prop_map(Text::from), tree()), 0..3).prop_map(|entries| Act::Metadata(object(entries))),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (option::of(0..9u64), option::of(0..9u64)).prop_map(|(input_tokens, output_tokens)| {
        let mut usage = Usage::default();
        (usage.input_tokens, usage.output_tokens) = (input_tokens, output_tokens);
        usage
    })
}

pub(crate) fn finish_reason() -> impl Strategy<Value = FinishReason> {
    prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::ToolCalls),
        Just(FinishReason::Length),
        Just(FinishReason::ContentFilter),
        Just(FinishReason::Refusal),
        Just(FinishReason::Error),
        text().prop_map(FinishReason::Other),
    ]
}

fn last() -> impl Strategy<Value = RunEvent> {
    let code = prop_oneof![Just(RunErrorCode::RateLimited), Just(RunErrorCode::Internal)];
    prop_oneof![
        3 => (finish_reason(), usage()).prop_map(|(reason, usage)| RunEvent::Finish { reason, usage }),
        1 => (code, text()).prop_map(|(code, message)| RunEvent::Error { code, message }),
        1 => text().prop_map(|reason| RunEvent::Abort { reason }),
    ]
}

/// Returns the events of a run in a valid order.
pub(crate) fn run() -> impl Strategy<Value = Vec<RunEvent>> {
    let metadata = option::of(vec((word(), tree()), 0..3).prop_map(object));
    let step = (vec(act(), 0..5), finish_reason(), usage());
    (text(), metadata, vec(step, 0..4), last(), any::<bool>()).prop_map(
        |(message_id, metadata, steps, last, cut)| {
            let mut events = vec![RunEvent::Start { message_id, metadata }];
            let (mut blocks, mut calls) = (0, 0);
            for (acts, reason, usage) in steps {
                events.push(RunEvent::StepStart);
                let mut outputs = Vec::new();
                for act in acts {
                    expand(act, &mut blocks, &mut calls, &mut events, &mut outputs);
                }
                events.append(&mut outputs);
                events.push(RunEvent::StepFinish { reason, usage });
            }
            if cut && !matches!(last, RunEvent::Finish { .. }) && events.len() > 2 {
                events.truncate(events.len() / 2 + 1);
            }
            events.push(last);
            events
        },
    )
}

fn expand(
    act: Act,
    blocks: &mut u32,
    calls: &mut u32,
    events: &mut Vec<RunEvent>,
    outputs: &mut Vec<RunEvent>,
) {
    match act {
        Act::Text(reasoning, deltas, metadata) => {
            let id = BlockId(*blocks);
            *blocks += 1;
            if reasoning {
                events.push(RunEvent::ReasoningStart { id });
                events.extend(deltas.into_iter().map(|delta| RunEvent::ReasoningDelta { id, delta }));
                events.push(RunEvent::ReasoningEnd { id, metadata });
            } else {
                events.push(RunEvent::TextStart { id });
                events.extend(deltas.into_iter().map(|delta| RunEvent::TextDelta { id, delta }));
                events.push(RunEvent::TextEnd { id, metadata });
            }
        }
        Act::Call { name, deltas, input, provider_executed, metadata, end } => {
            let call_id = Text::from(format!("call-{calls}"));
            *calls += 1;
            events.push(RunEvent::ToolInputStart {
                call_id: call_id.clone(),
                name: name.clone(),
                title: None,
                app: None,
            });
            let delta = |delta| RunEvent::ToolInputDelta { call_id: call_id.clone(), delta };
            events.extend(deltas.into_iter().map(delta));
            if let CallEnd::Cut = end {
                return;
            }
            if let CallEnd::Unusable(error_text) = end {
                events.push(RunEvent::ToolInputError { call_id, name, input, error_text, metadata });
                return;
            }
            events.push(RunEvent::ToolInputAvailable {
                call_id: call_id.clone(),
                name,
                input,
                provider_executed,
                metadata,
            });
            match end {
                CallEnd::Output(progress, output) => {
                    let output_event = |output, preliminary| RunEvent::ToolOutput {
                        call_id: call_id.clone(),
                        output,
                        preliminary,
                        provider_executed,
                    };
                    outputs.extend(progress.into_iter().map(|output| output_event(output, true)));
                    outputs.push(output_event(output, false));
                }
                CallEnd::Failed(error_text) => {
                    outputs.push(RunEvent::ToolError { call_id, error_text, provider_executed });
                }
                _ => {}
            }
        }
        Act::Source(source) => events.push(RunEvent::Source(source)),
        Act::File(media_type, url) => events.push(RunEvent::File { media_type, url }),
        Act::Data(name, id, data, transient) => {
            events.push(RunEvent::Data { name, id, data, transient });
        }
        Act::Metadata(metadata) => events.push(RunEvent::Metadata(metadata)),
    }
}
