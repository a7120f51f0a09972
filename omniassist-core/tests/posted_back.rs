//! Round trips through encoder, official client and reader of each dialect.
//!
//! The events come from the run machine. Its input is hostile output of a model: ids and names of any length and
//! characters, and arguments, outputs and provider items of any depth.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::dialect::ai_sdk::{self, ClientVersion, Framing};
use omniassist_core::dialect::chat_completions::{self, AnswerHead};
use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::run::{Action, Input, RunConfig, RunMachine, ToolCatalog};
use omniassist_core::{
    EventBuf, FinishReason, JsonText, Limits, LlmEvent, RunEvent, RunRequest, Text, ToolSide,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ag_ui::client::Client;
use crate::{ag_ui, strategies};

/// `server` runs on the server and `front` in the client.
struct Tools;

impl ToolCatalog for Tools {
    fn side(&self, name: &str) -> Option<ToolSide> {
        match name {
            "server" => Some(ToolSide::Server),
            "front" => Some(ToolSide::FrontEnd),
            _ => None,
        }
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }
}

fn id() -> impl Strategy<Value = Text> {
    prop_oneof![
        "[a-z0-9]{1,4}".prop_map(Text::from),
        any::<String>().prop_map(Text::from),
        ".{230,270}".prop_map(Text::from),
        prop_oneof![Just("input-c"), Just("approval-c~s"), Just("msg.1.2"), Just("__proto__"), Just("~\"\\")]
            .prop_map(Text::from),
    ]
}

/// Returns an object with a random number of levels, up to more than the machine and the reader accept.
fn nested() -> impl Strategy<Value = Text> {
    let depth = prop_oneof![1..4_usize, 46..51_usize, 55..70_usize];
    (depth, any::<bool>()).prop_map(|(depth, arrays)| {
        let (open, close) = if arrays { ("[", "]") } else { ("{\"a\":", "}") };
        format!("{{\"n\":{}1{}}}", open.repeat(depth - 1), close.repeat(depth - 1)).into()
    })
}

fn state() -> impl Strategy<Value = Option<ProviderMetadata>> {
    option::of(strategies::tree().prop_map(|tree| {
        let state = json!({"itemId": "i", "extra": tree});
        ProviderMetadata::of("openai", state.as_object().unwrap().clone())
    }))
}

/// Returns one item of a model's turn: a block, a call, a provider item, a source or a file.
fn said() -> impl Strategy<Value = Vec<LlmEvent>> {
    let name = prop_oneof![3 => Just("server".into()), 3 => Just("front".into()), 1 => id()];
    prop_oneof![
        (any::<u32>(), strategies::text(), state()).prop_map(|(block, delta, metadata)| vec![
            LlmEvent::TextDelta { block, delta },
            LlmEvent::TextEnd { block, metadata },
        ]),
        (any::<u32>(), strategies::text(), state()).prop_map(|(block, delta, metadata)| vec![
            LlmEvent::ReasoningDelta { block, delta },
            LlmEvent::ReasoningEnd { block, metadata },
        ]),
        (any::<u32>(), id(), name, nested(), state()).prop_map(|(call, id, name, arguments, metadata)| vec![
            LlmEvent::ToolCallStart { call, id, name, kind: CallKind::Function },
            LlmEvent::ToolCallDelta { call, delta: arguments.clone() },
            LlmEvent::ToolCallEnd { call, arguments, metadata },
        ]),
        (id(), id(), option::of(id()), nested(), any::<bool>()).prop_map(
            |(id, kind, name, item, replayed)| {
                let item = JsonText::parse(item).unwrap();
                let replay_to = replayed.then(|| "openai".into());
                vec![LlmEvent::ProviderTool { id, kind, name, item, replay_to }]
            }
        ),
        strategies::source().prop_map(|source| vec![LlmEvent::Source(source)]),
        (strategies::text(), strategies::text())
            .prop_map(|(media_type, url)| vec![LlmEvent::File { media_type, url }]),
    ]
}

/// Returns the events of a run with these turns and tool outputs.
fn run(turns: Vec<Vec<Vec<LlmEvent>>>, outputs: &[Text]) -> Vec<RunEvent> {
    let mut events = EventBuf::new();
    let mut turns = turns.into_iter();
    let mut outputs = outputs.iter().cycle();
    let request = RunRequest::prompt("Hi");
    let mut machine = RunMachine::start(&request, RunConfig::new("msg"), &Tools, &mut events);
    loop {
        match machine.next_action() {
            Some(Action::CallModel { .. }) => {
                for event in turns.next().unwrap_or_default().into_iter().flatten() {
                    machine.step(Input::Model(event), &Tools, &mut events);
                }
                let end = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
                machine.step(Input::Model(end), &Tools, &mut events);
                machine.step(Input::ModelEnd, &Tools, &mut events);
            }
            Some(Action::RunTools { calls }) => {
                for call in calls {
                    let output = JsonText::parse(outputs.next().unwrap().clone()).unwrap();
                    let call_id = call.id;
                    let progress = Input::ToolProgress { call_id: call_id.clone(), output: output.clone() };
                    machine.step(progress, &Tools, &mut events);
                    machine.step(Input::ToolResult { call_id, result: Ok(output) }, &Tools, &mut events);
                }
            }
            _ => return events.drain().collect(),
        }
    }
}

fn runs() -> impl Strategy<Value = Vec<RunEvent>> {
    (vec(vec(said(), 0..4), 1..3), vec(nested(), 1..3)).prop_map(|(turns, outputs)| run(turns, &outputs))
}

/// Returns the answer as assembled by `useChat`.
fn ui_message(chunks: &str) -> Value {
    let mut message = json!({"id": "msg", "role": "assistant"});
    let mut parts: Vec<Value> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for chunk in chunks.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let kind = chunk["type"].as_str().unwrap();
        let key = chunk["toolCallId"].as_str().or(chunk["id"].as_str()).unwrap_or_default().to_owned();
        let mut part = chunk.clone();
        let fields = part.as_object_mut().unwrap();
        match kind {
            "start" | "finish" | "message-metadata" => {
                if let Some(metadata) = chunk.get("messageMetadata") {
                    message["metadata"] = metadata.clone();
                }
            }
            "start-step" => parts.push(json!({"type": "step-start"})),
            "text-start" | "reasoning-start" => {
                open.insert(key, parts.len());
                let kind = kind.strip_suffix("-start").unwrap();
                parts.push(json!({"type": kind, "text": "", "state": "streaming"}));
            }
            "text-delta" | "reasoning-delta" => {
                let text = &mut parts[open[&key]]["text"];
                *text = format!("{}{}", text.as_str().unwrap(), chunk["delta"].as_str().unwrap()).into();
            }
            "text-end" | "reasoning-end" => {
                let part = &mut parts[open[&key]];
                part["state"] = "done".into();
                if let Some(state) = chunk.get("providerMetadata") {
                    part["providerMetadata"] = state.clone();
                }
            }
            "source-url" | "source-document" | "file" => parts.push(part),
            _ if kind.starts_with("data-") => parts.push(part),
            "tool-input-start"
            | "tool-input-available"
            | "tool-input-error"
            | "tool-output-available"
            | "tool-output-error" => {
                let at = *open.entry(key).or_insert_with(|| {
                    let name = chunk["toolName"].as_str().unwrap();
                    parts.push(json!({"type": format!("tool-{name}"), "toolCallId": chunk["toolCallId"]}));
                    parts.len() - 1
                });
                for gone in ["type", "toolName", "toolCallId"] {
                    fields.remove(gone);
                }
                if let Some(state) = fields.remove("providerMetadata") {
                    fields.insert("callProviderMetadata".into(), state);
                }
                let state = match kind {
                    "tool-input-start" => "input-streaming",
                    "tool-input-error" => "output-error",
                    kind => kind.strip_prefix("tool-").unwrap(),
                };
                fields.insert("state".into(), state.into());
                parts[at].as_object_mut().unwrap().extend(fields.clone());
            }
            "finish-step" | "tool-input-delta" | "error" | "abort" => {}
            other => panic!("a chunk of an unknown type: {other}"),
        }
    }
    message["parts"] = parts.into();
    message
}

fn encoded(mut encoder: impl DialectEncoder, events: &[RunEvent]) -> String {
    let mut out = BytesMut::new();
    events.iter().for_each(|event| encoder.encode(event, &mut out));
    encoder.finish(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

/// Returns the messages of an OpenAI client: the answer, and a result for each of its calls.
fn chat_messages(stream: &str) -> Vec<Value> {
    let mut content = String::new();
    let mut calls: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
    let frames = stream.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
    for chunk in frames.filter_map(|data| serde_json::from_str::<Value>(data).ok()) {
        let delta = &chunk["choices"][0]["delta"];
        content.push_str(delta["content"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let known = calls.entry(call["index"].as_u64().unwrap()).or_default();
            known.0.push_str(call["id"].as_str().unwrap_or_default());
            known.1.push_str(call["function"]["name"].as_str().unwrap_or_default());
            known.2.push_str(call["function"]["arguments"].as_str().unwrap());
        }
    }
    let tool_calls: Vec<_> = calls
        .values()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let results =
        calls.values().map(|(id, ..)| json!({"role": "tool", "tool_call_id": id, "content": "done"}));
    let mut answer = json!({"role": "assistant", "content": content});
    if !tool_calls.is_empty() {
        answer["tool_calls"] = tool_calls.into();
    }
    std::iter::once(answer).chain(results).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_ai_sdk_reader_accepts_the_encoders_output(
        events in runs(), version in prop_oneof![Just(ClientVersion::V5), Just(ClientVersion::V6), Just(ClientVersion::V7)],
    ) {
        let chunks = encoded(ai_sdk::Encoder::new(Framing::Ndjson).version(version), &events);
        let question = |id: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
        let posted = json!({"messages": [question("u1"), ui_message(&chunks), question("u2")]}).to_string();
        let read = ai_sdk::read_request(Bytes::from(posted.clone()), &Limits::default());
        prop_assert!(read.is_ok(), "{:?} of {posted}", read.err());
    }

    #[test]
    fn the_ag_ui_reader_accepts_the_encoders_output(
        events in runs(), version in prop_oneof![Just(Version::V0), Just(Version::V1)],
    ) {
        let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
        client.apply_all(&ag_ui::frames(&encoded(ag_ui::encoder(version), &events)));
        client.messages.push(json!({"id": "u2", "role": "user", "content": "So?"}));
        let posted = ag_ui::with_messages(&client.messages);
        let read = ag_ui::read(&posted);
        prop_assert!(read.is_ok(), "{:?} of {posted}", read.err());
    }

    #[test]
    fn the_chat_completions_reader_accepts_the_encoders_output(events in runs()) {
        let head = AnswerHead::new("chatcmpl-1", 0, "m");
        let encoder = chat_completions::Encoder::new(&head, ["front".into()]).reasoning(true).server_tools(true);
        let mut messages = chat_messages(&encoded(encoder, &events));
        messages.insert(0, json!({"role": "user", "content": "Hi"}));
        messages.push(json!({"role": "user", "content": "So?"}));
        let posted = json!({"model": "m", "messages": messages}).to_string();
        let read = chat_completions::read_request(Bytes::from(posted.clone()), &Limits::default());
        prop_assert!(read.is_ok(), "{:?} of {posted}", read.err());
    }
}
