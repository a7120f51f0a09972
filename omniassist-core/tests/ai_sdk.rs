//! Tests of the AI SDK's UI message stream.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::{ClientVersion, Encoder, Framing};
use omniassist_core::event::{ApprovalRequest, BlockId, FinishReason, RunErrorCode, Usage};
use omniassist_core::message::{Message, MessageCollector, Part, read};
use omniassist_core::{JsonText, Limits, RunEvent, Text, ToolApp};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::strategies;

/// The fields of each chunk that clients of versions 5, 6 and 7 all define: required and optional ones, in addition to
/// `type`.
const CHUNKS: &[(&str, &[&str], &[&str])] = &[
    ("start", &[], &["messageId", "messageMetadata"]),
    ("start-step", &[], &[]),
    ("finish-step", &[], &[]),
    ("text-start", &["id"], &["providerMetadata"]),
    ("text-delta", &["id", "delta"], &["providerMetadata"]),
    ("text-end", &["id"], &["providerMetadata"]),
    ("reasoning-start", &["id"], &["providerMetadata"]),
    ("reasoning-delta", &["id", "delta"], &["providerMetadata"]),
    ("reasoning-end", &["id"], &["providerMetadata"]),
    ("tool-input-start", &["toolCallId", "toolName"], &["providerExecuted", "dynamic"]),
    ("tool-input-delta", &["toolCallId", "inputTextDelta"], &[]),
    (
        "tool-input-available",
        &["toolCallId", "toolName", "input"],
        &["providerExecuted", "providerMetadata", "dynamic"],
    ),
    (
        "tool-input-error",
        &["toolCallId", "toolName", "input", "errorText"],
        &["providerExecuted", "providerMetadata", "dynamic"],
    ),
    ("tool-output-available", &["toolCallId", "output"], &["providerExecuted", "dynamic", "preliminary"]),
    ("tool-output-error", &["toolCallId", "errorText"], &["providerExecuted", "dynamic"]),
    ("source-url", &["sourceId", "url"], &["title", "providerMetadata"]),
    ("source-document", &["sourceId", "mediaType", "title"], &["filename", "providerMetadata"]),
    ("file", &["url", "mediaType"], &["providerMetadata"]),
    ("data-*", &["data"], &["id", "transient"]),
    ("message-metadata", &["messageMetadata"], &[]),
    ("finish", &[], &["finishReason", "messageMetadata"]),
    ("abort", &[], &[]),
    ("error", &["errorText"], &[]),
];

/// Fields whose schema is "unknown": any JSON, null included.
const ANY: [&str; 4] = ["input", "output", "data", "messageMetadata"];

/// Checks a chunk by the rules of the strictest client.
fn check(chunk: &Value) {
    let object = chunk.as_object().unwrap();
    let kind = object["type"].as_str().unwrap();
    let row = if kind.starts_with("data-") { "data-*" } else { kind };
    let (_, required, optional) =
        CHUNKS.iter().find(|(name, ..)| *name == row).unwrap_or_else(|| panic!("{kind}"));
    for key in *required {
        assert!(object.contains_key(*key), "{kind} without {key}");
    }
    for (key, value) in object {
        let key = key.as_str();
        assert!(key == "type" || required.contains(&key) || optional.contains(&key), "{kind} with {key}");
        if ANY.contains(&key) {
            continue;
        }
        match key {
            "preliminary" | "transient" | "providerExecuted" | "dynamic" => assert!(value.is_boolean()),
            "providerMetadata" => {
                assert!(value.as_object().unwrap().values().all(Value::is_object), "{chunk}");
            }
            "finishReason" => {
                let known = ["stop", "length", "content-filter", "tool-calls", "error", "other"];
                assert!(known.contains(&value.as_str().unwrap()), "{chunk}");
            }
            _ => assert!(value.is_string(), "{kind} with {key}: {value}"),
        }
    }
}

fn encode(framing: Framing, events: &[RunEvent]) -> String {
    let mut encoder = Encoder::new(framing);
    let mut out = BytesMut::new();
    for event in events {
        encoder.encode(event, &mut out);
    }
    encoder.finish(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

/// Returns the chunks of a body after checking its framing.
fn sse_chunks(body: &str) -> Vec<Value> {
    let frames: Vec<&str> = body.strip_suffix("\n\n").unwrap().split("\n\n").collect();
    let (last, frames) = frames.split_last().unwrap();
    assert_eq!(*last, "data: [DONE]");
    let chunk = |(number, frame): (usize, &&str)| {
        let data = frame.strip_prefix(&format!("id: {number}\ndata: ")).unwrap_or_else(|| panic!("{frame}"));
        assert!(!data.contains(['\n', '\r']));
        serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
    };
    frames.iter().enumerate().map(chunk).collect()
}

fn ndjson_chunks(body: &str) -> Vec<Value> {
    assert!(body.ends_with('\n') && !body.contains('\r'));
    body.trim_end_matches('\n').split('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A client that builds the message from plain JSON chunks by the rules of `useChat`.
#[derive(Default)]
struct Client {
    id: Value,
    metadata: Option<Value>,
    parts: Vec<Value>,
    open: Map<String, Value>,
}

impl Client {
    fn apply(&mut self, chunk: &Value) {
        let kind = chunk["type"].as_str().unwrap();
        if let Some(metadata) = chunk.get("messageMetadata") {
            merge(self.metadata.get_or_insert_with(|| json!({})), metadata);
        }
        match kind {
            "start" => self.id = chunk["messageId"].clone(),
            "start-step" => self.parts.push(json!({"type": "step-start"})),
            "text-start" | "reasoning-start" => {
                let key = format!("{}{}", &kind[..1], chunk["id"]);
                assert!(self.open.insert(key, self.parts.len().into()).is_none());
                self.parts.push(json!({"type": kind.trim_end_matches("-start"), "text": ""}));
            }
            "text-delta" | "reasoning-delta" => {
                let part = self.block(kind, chunk);
                part["text"] =
                    format!("{}{}", part["text"].as_str().unwrap(), chunk["delta"].as_str().unwrap()).into();
            }
            "text-end" | "reasoning-end" => {
                let part = self.block(kind, chunk);
                if let Some(state) = chunk.get("providerMetadata") {
                    part["providerMetadata"] = state.clone();
                }
                self.open.remove(&format!("{}{}", &kind[..1], chunk["id"]));
            }
            "tool-input-start" => self.tool(chunk, "input-streaming", &[]),
            "tool-input-delta" => assert!(self.call(&chunk["toolCallId"]).is_some()),
            "tool-input-available" => self.tool(chunk, "input-available", &["input"]),
            "tool-input-error" => self.tool(chunk, "output-error", &["input", "errorText"]),
            "tool-output-available" => {
                let part = self.call(&chunk["toolCallId"]).expect("a known call");
                part["state"] = "output-available".into();
                part["output"] = chunk["output"].clone();
                match chunk.get("preliminary") {
                    Some(preliminary) => part["preliminary"] = preliminary.clone(),
                    None => drop(part.as_object_mut().unwrap().remove("preliminary")),
                }
                if let Some(executed) = chunk.get("providerExecuted") {
                    part["providerExecuted"] = executed.clone();
                }
            }
            "tool-output-error" => {
                let part = self.call(&chunk["toolCallId"]).expect("a known call");
                part["state"] = "output-error".into();
                part["errorText"] = chunk["errorText"].clone();
            }
            "source-url" | "source-document" | "file" => self.parts.push(chunk.clone()),
            _ if kind.starts_with("data-") => {
                if chunk.get("transient") == Some(&json!(true)) {
                    return;
                }
                let same = |part: &&mut Value| {
                    chunk.get("id").is_some() && part.get("id") == chunk.get("id") && part["type"] == kind
                };
                match self.parts.iter_mut().find(same) {
                    Some(part) => part["data"] = chunk["data"].clone(),
                    None => self.parts.push(chunk.clone()),
                }
            }
            "finish-step" | "finish" | "message-metadata" | "abort" | "error" => {}
            _ => panic!("{kind}"),
        }
    }

    fn block(&mut self, kind: &str, chunk: &Value) -> &mut Value {
        let index = self.open[&format!("{}{}", &kind[..1], chunk["id"])].as_u64().unwrap();
        &mut self.parts[usize::try_from(index).unwrap()]
    }

    fn call(&mut self, id: &Value) -> Option<&mut Value> {
        self.parts.iter_mut().find(|part| part.get("toolCallId") == Some(id))
    }

    fn tool(&mut self, chunk: &Value, state: &str, keys: &[&str]) {
        if self.call(&chunk["toolCallId"]).is_none() {
            let kind = format!("tool-{}", chunk["toolName"].as_str().unwrap());
            self.parts.push(json!({"type": kind, "toolCallId": chunk["toolCallId"]}));
        }
        let part = self.call(&chunk["toolCallId"]).unwrap();
        part["state"] = state.into();
        for key in keys {
            part[*key] = chunk[*key].clone();
        }
        if let Some(executed) = chunk.get("providerExecuted") {
            part["providerExecuted"] = executed.clone();
        }
        if let Some(metadata) = chunk.get("providerMetadata") {
            part["callProviderMetadata"] = metadata.clone();
        }
    }

    /// Returns the message after it was posted and read.
    fn message(self) -> Message {
        let mut message = json!({"id": "x", "role": "assistant", "parts": self.parts});
        if let Some(metadata) = self.metadata {
            message["metadata"] = metadata;
        }
        let body = Text::from(json!([message]).to_string());
        let mut message = read::messages(&body, &Limits::default()).unwrap().remove(0);
        message.id = self.id.as_str().unwrap().into();
        message
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_client_and_the_collector_build_the_same_message(events in strategies::run()) {
        let chunks = sse_chunks(&encode(Framing::Sse, &events));
        prop_assert_eq!(&chunks, &ndjson_chunks(&encode(Framing::Ndjson, &events)));
        let mut client = Client::default();
        for chunk in &chunks {
            check(chunk);
            client.apply(chunk);
        }
        let mut collector = MessageCollector::new();
        for event in &events {
            collector.apply(event);
        }
        let (mut built, mut expected) = (client.message(), collector.into_message());
        // A run that is stopped after a call, or ends with a cut one, ends with an empty step. Empty metadata shows it.
        if matches!(events.last(), Some(RunEvent::Abort { .. } | RunEvent::Finish { .. })) {
            if built.parts.len() > expected.parts.len() {
                prop_assert_eq!(built.parts.pop(), Some(Part::StepStart));
            }
            built.metadata.get_or_insert_with(|| json!({}));
            expected.metadata.get_or_insert_with(|| json!({}));
        }
        prop_assert_eq!(built, expected);
    }

    #[test]
    fn any_text_is_encoded_without_loss(text in strategies::text()) {
        let id = BlockId(u32::MAX);
        let body = encode(Framing::Sse, &[RunEvent::TextDelta { id, delta: text.clone() }]);
        let chunks = sse_chunks(&body);
        prop_assert_eq!(&chunks, &[json!({"type": "text-delta", "id": "t4294967295", "delta": text})]);
        let data = body.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let serde = format!("\"delta\":{}}}", serde_json::to_string(text.as_str()).unwrap());
        prop_assert!(data.ends_with(&serde), "{data} {serde}");
    }
}

#[test]
fn ascii_characters_are_escaped_as_in_json() {
    let text: String = (0..128u8).map(char::from).collect();
    let chunks = sse_chunks(&encode(
        Framing::Sse,
        &[RunEvent::TextDelta { id: BlockId(0), delta: text.as_str().into() }],
    ));
    assert_eq!(chunks[0]["delta"], text);
}

#[test]
fn a_complete_answer_is_encoded_byte_for_byte() {
    let (text, thought) = (BlockId(1), BlockId(0));
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(7), Some(0));
    let call_id = || Text::from_static("call-1");
    let name = || Text::from_static("find");
    let state = serde_json::from_value(json!({"openai": {"itemId": "i"}, "flat": 1})).unwrap();
    let events = [
        RunEvent::Start { message_id: "m2".into(), metadata: None },
        RunEvent::StepStart,
        RunEvent::ReasoningStart { id: thought },
        RunEvent::ReasoningDelta { id: thought, delta: "Hm".into() },
        RunEvent::ReasoningEnd { id: thought, metadata: state },
        RunEvent::ToolInputStart { call_id: call_id(), name: name(), title: None, app: None },
        RunEvent::ToolInputDelta { call_id: call_id(), delta: "{\"q\":1}".into() },
        RunEvent::ToolInputAvailable {
            call_id: call_id(),
            name: name(),
            input: JsonText::parse("{\"q\":1}").unwrap(),
            provider_executed: false,
            metadata: None,
        },
        RunEvent::ToolOutput {
            call_id: call_id(),
            output: JsonText::NULL,
            preliminary: true,
            provider_executed: false,
        },
        RunEvent::ToolError { call_id: call_id(), error_text: "no".into(), provider_executed: false },
        RunEvent::StepFinish { reason: FinishReason::ToolCalls, usage },
        RunEvent::StepStart,
        RunEvent::TextStart { id: text },
        RunEvent::TextDelta { id: text, delta: "Sorry".into() },
        RunEvent::TextEnd { id: text, metadata: None },
        RunEvent::StepFinish { reason: FinishReason::Stop, usage },
        RunEvent::Finish { reason: FinishReason::Stop, usage },
    ];
    let expected = r#"{"type":"start","messageId":"m2"}
{"type":"start-step"}
{"type":"reasoning-start","id":"r0"}
{"type":"reasoning-delta","id":"r0","delta":"Hm"}
{"type":"reasoning-end","id":"r0","providerMetadata":{"openai":{"itemId":"i"}}}
{"type":"tool-input-start","toolCallId":"call-1","toolName":"find"}
{"type":"tool-input-delta","toolCallId":"call-1","inputTextDelta":"{\"q\":1}"}
{"type":"tool-input-available","toolCallId":"call-1","toolName":"find","input":{"q":1}}
{"type":"tool-output-available","toolCallId":"call-1","output":null,"preliminary":true}
{"type":"tool-output-error","toolCallId":"call-1","errorText":"no"}
{"type":"finish-step"}
{"type":"start-step"}
{"type":"text-start","id":"t1"}
{"type":"text-delta","id":"t1","delta":"Sorry"}
{"type":"text-end","id":"t1"}
{"type":"finish-step"}
{"type":"finish","finishReason":"stop","messageMetadata":{"usage":{"inputTokens":7,"outputTokens":0}}}
"#;
    assert_eq!(encode(Framing::Ndjson, &events), expected);
}

#[test]
fn a_call_starts_with_the_app_of_its_tool_since_version_7() {
    let app = Some(Box::new(ToolApp::new("docs", "ui://app/view")));
    let begun = RunEvent::ToolInputStart { call_id: "c".into(), name: "look".into(), title: None, app };
    let start = r#"{"type":"tool-input-start","toolCallId":"c","toolName":"look""#;
    let metadata = r#","toolMetadata":{"app":{"server":"docs","resourceUri":"ui://app/view","mimeType":"text/html;profile=mcp-app"}}"#;
    for (version, end) in [(ClientVersion::V5, ""), (ClientVersion::V6, ""), (ClientVersion::V7, metadata)] {
        let mut out = BytesMut::new();
        Encoder::new(Framing::Ndjson).version(version).encode(&begun, &mut out);
        assert_eq!(out, format!("{start}{end}}}\n"), "{version:?}");
    }
}

#[test]
fn a_call_starts_with_the_title_of_its_tool_since_version_7() {
    let title = Some("Refund order".into());
    let begun = RunEvent::ToolInputStart { call_id: "c".into(), name: "refund".into(), title, app: None };
    let start = r#"{"type":"tool-input-start","toolCallId":"c","toolName":"refund""#;
    for (version, end) in [
        (ClientVersion::V5, "}\n"),
        (ClientVersion::V6, "}\n"),
        (ClientVersion::V7, ",\"title\":\"Refund order\"}\n"),
    ] {
        let mut out = BytesMut::new();
        Encoder::new(Framing::Ndjson).version(version).encode(&begun, &mut out);
        assert_eq!(out, format!("{start}{end}"), "{version:?}");
    }
}

#[test]
fn a_request_for_approval_says_in_the_metadata_that_the_arguments_can_be_edited() {
    let asks = |message: Option<&'static str>, editable| {
        let mut request = ApprovalRequest::new("c".into(), "pay".into(), JsonText::EMPTY_OBJECT);
        request.message = message.map(Text::from);
        request.editable = editable;
        let events = [RunEvent::ToolApprovalRequest(request)];
        let chunk = encode(Framing::Ndjson, &events).lines().next().unwrap_or_default().to_owned();
        let chunk: Value = serde_json::from_str(&chunk).unwrap();
        chunk["messageMetadata"]["omniassist"]["approvals"]["c"].clone()
    };
    assert_eq!(asks(Some("Pay?"), true), json!({ "message": "Pay?", "editable": true }));
    assert_eq!(asks(None, true), json!({ "editable": true }));
    assert_eq!(asks(Some("Pay?"), false), json!({ "message": "Pay?" }));
    assert_eq!(asks(None, false), Value::Null);
}

#[test]
fn version_5_reads_no_chunk_of_an_approval() {
    let mut request = ApprovalRequest::new("c".into(), "pay".into(), JsonText::EMPTY_OBJECT);
    request.message = Some("Pay?".into());
    let denied = RunEvent::ToolDenied { call_id: "c".into(), reason: Some("Too dear.".into()) };
    let mut out = BytesMut::new();
    let mut encoder = Encoder::new(Framing::Ndjson).version(ClientVersion::V5);
    encoder.encode(&RunEvent::ToolApprovalRequest(request), &mut out);
    encoder.encode(&denied, &mut out);
    let text = "This call was denied; it was not run. The reason given: Too dear.";
    assert_eq!(
        out,
        format!("{{\"type\":\"tool-output-error\",\"toolCallId\":\"c\",\"errorText\":\"{text}\"}}\n")
    );
}

/// `lastAssistantMessageIsCompleteWithToolCalls` is true if all calls of the last step have results.
#[test]
fn a_run_that_is_stopped_after_a_call_ends_with_an_empty_step() {
    let call = |version| {
        let output = JsonText::parse("1").unwrap();
        let mut encoder = Encoder::new(Framing::Ndjson).version(version);
        let mut out = BytesMut::new();
        for event in [
            RunEvent::Start { message_id: "m".into(), metadata: None },
            RunEvent::StepStart,
            RunEvent::ToolOutput {
                call_id: "c".into(),
                output,
                preliminary: false,
                provider_executed: false,
            },
        ] {
            encoder.encode(&event, &mut out);
        }
        encoder
    };
    let abort = RunEvent::Abort { reason: "stopped".into() };
    let interrupted = RunEvent::Finish { reason: FinishReason::Interrupted, usage: Usage::default() };
    let last_kinds = |mut encoder: Encoder, events: &[RunEvent]| {
        let mut out = BytesMut::new();
        events.iter().for_each(|event| encoder.encode(event, &mut out));
        let chunks = ndjson_chunks(str::from_utf8(&out).unwrap());
        chunks.iter().map(|chunk| chunk["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for version in [ClientVersion::V5, ClientVersion::V6, ClientVersion::V7] {
        for (end, kind) in [(&abort, "abort"), (&interrupted, "finish")] {
            let expected = ["start-step", "message-metadata", kind];
            assert_eq!(last_kinds(call(version), std::slice::from_ref(end)), expected);
            // The next step has begun.
            let next = [RunEvent::StepStart, end.clone()];
            assert_eq!(last_kinds(call(version), &next), ["start-step", kind]);
            // The run continues a message, and has written nothing.
            let start = RunEvent::Start { message_id: "m".into(), metadata: None };
            let continued = last_kinds(Encoder::new(Framing::Ndjson).version(version), &[start, end.clone()]);
            assert_eq!(continued, ["start", "start-step", "message-metadata", kind]);
        }
        let stop = RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() };
        assert_eq!(last_kinds(call(version), &[stop]), ["finish"]);
    }
}

/// A call that the limit of tokens cut off has an error, which is a result for `lastAssistantMessageIsCompleteWithToolCalls`.
#[test]
fn a_run_that_ends_with_cut_calls_ends_with_an_empty_step() {
    let failed = |id: &str| RunEvent::ToolInputError {
        call_id: id.into(),
        name: "t".into(),
        input: JsonText::EMPTY_OBJECT,
        error_text: "cut".into(),
        metadata: None,
    };
    let open = |provider_executed| RunEvent::ToolInputAvailable {
        call_id: "a".into(),
        name: "t".into(),
        input: JsonText::EMPTY_OBJECT,
        provider_executed,
        metadata: None,
    };
    let ends_step = |calls: &[RunEvent], reason| {
        let mut encoder = Encoder::new(Framing::Ndjson);
        let mut out = BytesMut::new();
        let start = RunEvent::Start { message_id: "m".into(), metadata: None };
        let end = [
            RunEvent::StepFinish { reason: FinishReason::Length, usage: Usage::default() },
            RunEvent::Finish { reason, usage: Usage::default() },
        ];
        for event in [start, RunEvent::StepStart].iter().chain(calls).chain(&end) {
            encoder.encode(event, &mut out);
        }
        let chunks = ndjson_chunks(str::from_utf8(&out).unwrap());
        chunks.iter().filter(|chunk| chunk["type"] == "start-step").count() == 2
    };
    for reason in [FinishReason::Length, FinishReason::ContentFilter, FinishReason::ToolCalls] {
        assert!(ends_step(&[failed("a"), failed("b")], reason.clone()), "{reason:?}");
        assert!(ends_step(&[open(true), failed("b")], reason), "the provider runs the first");
    }
    // The client goes on with the first call.
    assert!(!ends_step(&[open(false), failed("b")], FinishReason::ToolCalls));
    assert!(!ends_step(&[open(true)], FinishReason::Stop));
}

#[test]
fn every_end_of_a_run_is_encoded() {
    let error = RunEvent::Error { code: RunErrorCode::RateLimited, message: "Later.".into() };
    assert_eq!(
        encode(Framing::Sse, &[error]),
        "id: 0\ndata: {\"type\":\"message-metadata\",\"messageMetadata\":{\"error\":{\"code\":\"rate_limited\"}}}\n\n\
         id: 1\ndata: {\"type\":\"error\",\"errorText\":\"Later.\"}\n\ndata: [DONE]\n\n"
    );
    let abort = RunEvent::Abort { reason: "stopped".into() };
    assert_eq!(encode(Framing::Ndjson, std::slice::from_ref(&abort)), "{\"type\":\"abort\"}\n");
    let mut out = BytesMut::new();
    Encoder::new(Framing::Ndjson).version(ClientVersion::V7).encode(&abort, &mut out);
    assert_eq!(out, "{\"type\":\"abort\",\"reason\":\"stopped\"}\n");
    let reasons = [
        (FinishReason::Stop, "stop"),
        (FinishReason::ToolCalls, "tool-calls"),
        (FinishReason::Length, "length"),
        (FinishReason::ContentFilter, "content-filter"),
        (FinishReason::Refusal, "content-filter"),
        (FinishReason::Error, "error"),
        (FinishReason::Interrupted, "error"),
        (FinishReason::Other("pause_turn".into()), "other"),
    ];
    for (reason, word) in reasons {
        let finish = RunEvent::Finish { reason, usage: Usage::default() };
        let expected = format!("{{\"type\":\"finish\",\"finishReason\":\"{word}\"}}\n");
        assert_eq!(encode(Framing::Ndjson, &[finish]), expected);
    }
}

#[test]
fn keys_that_the_client_rejects_are_removed() {
    let cases = [
        (r#"{"__proto__":{"x":1},"b":2}"#, r#"{"b":2}"#),
        (r#"{"\u005f_proto\u005F_":1}"#, "{}"),
        (r#"[{"a":{"c\u006fnstructor":{"prototype":null},"n":1}}]"#, r#"[{"a":{"n":1}}]"#),
        (
            r#"{"constructor":{"x":1.0},"z":"__proto__","a":1}"#,
            r#"{"constructor":{"x":1.0},"z":"__proto__","a":1}"#,
        ),
        (r#"{"constructor":"prototype","n":1.50}"#, r#"{"constructor":"prototype","n":1.50}"#),
    ];
    for (output, expected) in cases {
        let event = RunEvent::ToolOutput {
            call_id: "c".into(),
            output: JsonText::parse(output).unwrap(),
            preliminary: false,
            provider_executed: false,
        };
        let body = encode(Framing::Ndjson, &[event]);
        assert!(body.contains(&format!("\"output\":{expected}")), "{output}: {body}");
    }
    let delta = RunEvent::TextDelta { id: BlockId(0), delta: "{\"__proto__\":1}".into() };
    assert_eq!(ndjson_chunks(&encode(Framing::Ndjson, &[delta]))[0]["delta"], "{\"__proto__\":1}");
}

#[test]
fn a_delta_needs_no_allocation_if_the_buffer_has_room() {
    let mut encoder = Encoder::new(Framing::Sse);
    let mut out = BytesMut::with_capacity(4096);
    let before = out.as_ptr();
    for _ in 0..20 {
        encoder.encode(&RunEvent::TextDelta { id: BlockId(0), delta: "a \"piece\"\n".into() }, &mut out);
    }
    assert_eq!(out.as_ptr(), before);
}

#[test]
fn the_collector_continues_a_message() {
    let body = Text::from(
        json!([{"id": "a", "role": "assistant", "metadata": {"usage": {"inputTokens": 1}, "seen": true}, "parts": [
            {"type": "step-start"},
            {"type": "tool-find", "toolCallId": "c", "state": "input-available", "input": {"q": 1}},
        ]}])
        .to_string(),
    );
    let message = read::messages(&body, &Limits::default()).unwrap().remove(0);
    let mut collector = MessageCollector::continuing(message);
    let mut usage = Usage::default();
    usage.output_tokens = Some(2);
    for event in [
        RunEvent::Start { message_id: "a".into(), metadata: None },
        RunEvent::ToolOutput {
            call_id: "c".into(),
            output: JsonText::from_str_value("x"),
            preliminary: false,
            provider_executed: false,
        },
        RunEvent::ToolOutput {
            call_id: "unknown".into(),
            output: JsonText::NULL,
            preliminary: false,
            provider_executed: false,
        },
        RunEvent::StepStart,
        RunEvent::TextDelta { id: BlockId(9), delta: "for no block".into() },
        RunEvent::TextStart { id: BlockId(0) },
        RunEvent::TextDelta { id: BlockId(0), delta: "Found".into() },
        RunEvent::Finish { reason: FinishReason::Stop, usage },
    ] {
        collector.apply(&event);
    }
    assert_eq!(
        serde_json::to_value(collector.into_message()).unwrap(),
        json!({"id": "a", "role": "assistant",
        "metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}, "seen": true},
        "parts": [
            {"type": "step-start"},
            {"type": "tool-find", "toolCallId": "c", "state": "output-available", "input": {"q": 1}, "output": "x"},
            {"type": "step-start"},
            {"type": "text", "text": "Found"},
        ]})
    );
}
