//! Tests of tool calls through a JSON schema of the answer.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult};
use omniassist_server::core::{
    EventBuf, FinishReason, JsonText, Limits, LlmEvent, LlmPayload, ModelOptions, ToolChoice, ToolExample,
    ToolSpec, TranscriptItem,
};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::openai::ChatDecoder;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{LlmProvider, OpenAiChatProvider, ProviderErrorKind, Result};
use serde_json::{Value, json};

use super::streams::{chat, chat_done, delta, finish};
use crate::recordings::{Said, fold};

fn tool(name: &str, example: Value) -> Arc<ToolSpec> {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/City"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city"],
        "$defs": {"City": {"type": "string", "pattern": "\\S"}},
    });
    let mut tool = ToolSpec::new(name, "Gives the weather", schema);
    tool.examples = vec![ToolExample { request: "Weather in Bern?".into(), arguments: example }];
    Arc::new(tool)
}

fn payload() -> LlmPayload {
    let mut payload = LlmPayload::new([TranscriptItem::user("And in Zürich?")]);
    payload.system = Some("Be brief.".into());
    payload.tools = Arc::from([tool("weather", json!({"city": "Bern"}))]);
    payload
}

fn body(payload: &LlmPayload) -> Value {
    let provider = OpenAiChatProvider::builder()
        .base_url("http://127.0.0.1:1/v1")
        .model("m")
        .constrained_tools(true)
        .build()
        .unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

fn contents(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

#[test]
fn tools_become_a_schema_of_the_answer() {
    let body = body(&payload());
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    let form = |tool: &str, with: Value| {
        json!({
            "type": "object", "properties": {"tool": {"const": tool}, "with": with},
            "required": ["tool", "with"], "additionalProperties": false,
        })
    };
    let arguments = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city"],
    });
    let reply = json!({"type": "string", "minLength": 1});
    assert_eq!(
        body["response_format"]["json_schema"]["schema"],
        json!({"anyOf": [form("weather", arguments), form("reply", reply)]})
    );
    let messages = contents(&body);
    let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    for part in
        ["Be brief.\n", "- weather {\"city\": string, \"unit\": \"C\"|\"F\"}: Gives the weather\n", "- reply"]
    {
        assert!(messages[0].1.contains(part), "{part}: {}", messages[0].1);
    }
    assert_eq!(messages[1].1, "Weather in Bern?");
    assert_eq!(messages[2].1, r#"{"tool": "weather", "with": {"city":"Bern"}}"#);
    assert_eq!(messages[5].1, "And in Zürich?");
}

/// Checks the order of the properties, because servers generate in the order of the schema's text.
#[test]
fn the_schema_has_the_tool_before_its_arguments() {
    let provider = OpenAiChatProvider::builder()
        .base_url("http://127.0.0.1:1/v1")
        .constrained_tools(true)
        .build()
        .unwrap();
    let body = provider.request_body(&payload()).unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    let properties = text.find(r#""properties":{"tool":{"const":"weather"},"with":"#);
    assert!(properties.is_some(), "{text}");
}

#[test]
fn calls_and_results_become_text_and_turns_alternate() {
    let call = |id: &str, city: &str| {
        TranscriptItem::Call(ToolCall {
            id: id.into(),
            name: "weather".into(),
            arguments: JsonText::from_value(&json!({"city": city})),
            kind: CallKind::Function,
            metadata: None,
        })
    };
    let result = |id: &str, output: Value, is_error: bool| {
        TranscriptItem::Result(ToolResult {
            call_id: id.into(),
            output: JsonText::from_value(&output),
            is_error,
        })
    };
    let mut payload = payload();
    payload.transcript = Arc::from([
        TranscriptItem::user("Both?"),
        TranscriptItem::Reasoning { text: "Hm.".into(), metadata: None },
        TranscriptItem::Text { text: "Let me ".into(), metadata: None },
        TranscriptItem::Text { text: "\"look\".".into(), metadata: None },
        call("a", "Bern"),
        call("b", "Genf"),
        result("a", json!({"t": 21}), false),
        result("b", json!("no such city"), true),
        TranscriptItem::user("Never mind."),
    ]);
    let told = contents(&body(&payload));
    let said: Vec<(&str, &str)> =
        told.iter().skip(5).map(|(role, text)| (role.as_str(), text.as_str())).collect();
    assert_eq!(
        said,
        [
            ("user", "Both?"),
            ("assistant", r#"{"tool": "reply", "with": "Let me \"look\"."}"#),
            ("user", "Go on."),
            ("assistant", r#"{"tool": "weather", "with": {"city":"Bern"}}"#),
            ("user", "weather gave: {\"t\":21}\nReply to the user with this."),
            ("assistant", r#"{"tool": "weather", "with": {"city":"Genf"}}"#),
            ("user", "weather failed: no such city\n\nNever mind."),
        ]
    );
    payload.tool_choice = ToolChoice::Required;
    let told = contents(&body(&payload));
    assert!(told.iter().any(|(_, text)| text == "weather gave: {\"t\":21}"), "{told:?}");
    payload.tool_choice = ToolChoice::None;
    let free = body(&payload);
    assert!(free.get("response_format").is_none());
    let told = contents(&free);
    assert_eq!(told[0].1, "Be brief.");
    assert_eq!(told[2], ("assistant".to_owned(), "Let me \"look\".".to_owned()));
}

#[test]
fn the_tool_choice_and_the_answer_schema_apply() {
    let forms = |payload: &LlmPayload| {
        let body = body(payload);
        let forms = body["response_format"]["json_schema"]["schema"]["anyOf"].as_array().unwrap().clone();
        forms
            .iter()
            .map(|form| form["properties"]["tool"]["const"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let mut payload = payload();
    payload.tools = Arc::from([tool("weather", json!({})), tool("reply", json!({}))]);
    assert_eq!(forms(&payload), ["weather", "reply", "reply_"]);
    payload.tool_choice = ToolChoice::Required;
    assert_eq!(forms(&payload), ["weather", "reply"]);
    payload.tool_choice = ToolChoice::Tool("reply".into());
    assert_eq!(forms(&payload), ["reply"]);
    payload.tool_choice = ToolChoice::Auto;
    let mut options = ModelOptions::default();
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    options.response_schema = Some(("answer".into(), schema.clone()));
    payload.options = Arc::new(options);
    let body = body(&payload);
    assert_eq!(body["response_format"]["json_schema"]["schema"]["anyOf"][2]["properties"]["with"], schema);
}

struct Decoded {
    events: Vec<LlmEvent>,
    end: Result<()>,
}

fn decode<'a>(limits: &Limits, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = ChatDecoder::new(limits, "m1").constrained(&payload());
    let mut events = EventBuf::new();
    let mut end = Ok(());
    for chunk in chunks {
        end = decoder.feed(Bytes::copy_from_slice(chunk), &mut events);
        if end.is_err() {
            assert!(decoder.finish(&mut EventBuf::new()).is_err(), "a failed decoder must stay failed");
            break;
        }
    }
    if end.is_ok() {
        end = decoder.finish(&mut events);
    }
    Decoded { events: events.drain().collect(), end }
}

/// Returns a stream with its text in these pieces.
fn stream(pieces: &[&str], reason: &str) -> Vec<u8> {
    let mut chunks = vec![delta(json!({"role": "assistant", "content": null}))];
    chunks.extend(pieces.iter().map(|piece| delta(json!({"content": piece}))));
    chunks.push(finish(reason));
    chunks.push(json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}));
    chat_done(&chunks)
}

fn said(bytes: &[u8]) -> Said {
    let decoded = decode(&Limits::default(), [bytes]);
    assert!(decoded.end.is_ok(), "{:?}", decoded.end);
    for size in [1, 2, 7, 61] {
        assert_eq!(decode(&Limits::default(), bytes.chunks(size)).events, decoded.events);
    }
    fold(&decoded.events)
}

const CALL: &[&str] =
    &["{\n ", " \"to", "ol\":", " \"wea", "ther\",\"with\": {\"ci", "ty\": \"Zü\\u00", "e9}\"", "}\n", "}"];
const WORDS: &[&str] =
    &["{\"tool\":\"reply\",", "\"with\":\"It ", "is \\ud83c", "\\udf1e ", "21 \\\"C\\\".", "\"", "}"];

#[test]
fn an_answer_decodes_the_same_in_any_pieces() {
    for (answer, words, call) in [
        (r#"{"tool":"reply","with":"Hi \"you\" \u00e9\ud83e\udd80\n"}"#, "Hi \"you\" é🦀\n", None),
        ("{\n \"tool\" : \"reply\" ,\n \"with\" : \"a\\\\b{\" }\n", "a\\b{", None),
        (r#"{"tool":"reply","with":"\ud83e!\udd80\ud83e"}"#, "\u{fffd}!\u{fffd}\u{fffd}", None),
        (r#"{"tool":"t","with":{"a":"}\"]","b":[{}]} } tail"#, "", Some(r#"{"a":"}\"]","b":[{}]}"#)),
        (r#"{"with":{"a":1},"tool":"t"}"#, "", Some(r#"{"a":1}"#)),
        (r#"{"with":"early","tool":"reply"}"#, "early", None),
        (r#"{"tool":"reply","with":"late","why":["}"]}"#, "late", None),
    ] {
        let check = |pieces: &[&str]| {
            let said = fold(&decode(&Limits::default(), [&stream(pieces, "stop")[..]]).events);
            let ended = said.calls.first().map(|call| call.ended.as_deref().unwrap());
            assert_eq!((said.text.as_str(), ended), (words, call), "{pieces:?}");
            assert!(!said.finish.unwrap().2, "{pieces:?}");
        };
        let characters: Vec<String> = answer.chars().map(String::from).collect();
        check(&characters.iter().map(String::as_str).collect::<Vec<_>>());
        for (cut, _) in answer.char_indices() {
            check(&[&answer[..cut], &answer[cut..]]);
        }
    }
    let broken = said(&stream(&[r#"{"tool":"reply","with":"\x"}"#], "stop"));
    assert!(broken.finish.unwrap().2);
}

#[test]
fn an_answer_that_names_a_tool_is_a_call() {
    let said = said(&stream(CALL, "stop"));
    assert_eq!((said.text.as_str(), said.calls.len()), ("", 1));
    let call = &said.calls[0];
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_m1_0", "weather"));
    assert_eq!(call.ended.as_deref(), Some("{\"city\": \"Zü\\u00e9}\"}"));
    assert_eq!(call.ended.as_ref(), Some(&call.streamed));
    assert_eq!(said.finish, Some((FinishReason::ToolCalls, Some("stop".to_owned()), false)));
    assert_eq!(said.usage.unwrap().input_tokens, Some(7));
}

#[test]
fn a_reply_is_streamed_as_text() {
    let bytes = stream(WORDS, "stop");
    assert_eq!(said(&bytes).text, "It is 🌞 21 \"C\".");
    let pieces: Vec<String> = decode(&Limits::default(), [&bytes[..]])
        .events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::TextDelta { delta, .. } => Some(delta.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, ["It ", "is ", "🌞 ", "21 \"C\"."]);
    assert_eq!(said(&bytes).finish.unwrap().0, FinishReason::Stop);
}

#[test]
fn no_cut_completes_a_call() {
    let bytes = stream(CALL, "stop");
    let reference = said(&bytes);
    for cut in 0..bytes.len() {
        let decoded = decode(&Limits::default(), bytes[..cut].chunks(cut % 61 + 1));
        let said = fold(&decoded.events);
        assert!(said.calls.iter().all(|call| call.ended.is_none() || said.finish.is_some()), "cut at {cut}");
        match decoded.end {
            Ok(()) => {
                assert_eq!((&said.calls, said.finish.is_some()), (&reference.calls, true), "cut at {cut}");
            }
            Err(error) => {
                let interrupted = Some(ProviderErrorKind::Interrupted);
                assert_eq!((error.provider_kind(), said.finish), (interrupted, None), "cut at {cut}");
            }
        }
    }
}

#[test]
fn an_unclosed_object_is_truncated_for_each_finish_reason() {
    for reason in ["stop", "tool_calls", "length"] {
        for end in 5..CALL.len() {
            let said = said(&stream(&CALL[..end], reason));
            assert!(said.calls[0].ended.is_none() && said.finish.unwrap().2, "{reason} {end}");
        }
        let words = said(&stream(&WORDS[..3], reason));
        assert_eq!((words.text.as_str(), words.finish.unwrap().2), ("It is ", true), "{reason}");
    }
    // The object is complete, but the finish reason reports a cut.
    for reason in ["length", "content_filter", "error", "brand_new"] {
        let said = said(&stream(CALL, reason));
        assert!(said.calls[0].ended.is_none() && !said.runnable()[0], "{reason}");
    }
}

#[test]
fn an_answer_of_another_form_is_text() {
    for pieces in [
        &["Su", "re, {it} rains."][..],
        &["{\"wea", "ther\": 1, }"],
        &["{\"tool\": 7}", "x"],
        &["{}"],
        &["[1]"],
        &[r#"{"tool":"t","with":[1]}"#],
        &[r#"{"tool":"t"}"#],
        &[r#"{"tool":"t" "with""#],
    ] {
        let said = said(&stream(pieces, "stop"));
        assert_eq!((said.text.as_str(), said.calls.len()), (pieces.concat().as_str(), 0));
        assert_eq!(said.finish.unwrap(), (FinishReason::Stop, Some("stop".to_owned()), false));
    }
    let nothing = said(&stream(&[], "stop"));
    assert_eq!((nothing.text.as_str(), nothing.finish.unwrap().2), ("", false));
    // A call that has begun cannot become text. It ends as truncated and does not run.
    let broken = said(&stream(&["{\"tool\":\"weather\",\"with\":{}", " oops }"], "stop"));
    assert!(broken.calls[0].ended.is_none() && broken.finish.unwrap().2);
}

#[test]
fn reasoning_and_native_calls_are_passed_on() {
    let native =
        json!({"tool_calls": [{"index": 0, "id": "n", "function": {"name": "weather", "arguments": "{}"}}]});
    let bytes = chat_done(&[
        delta(json!({"reasoning_content": "Hm."})),
        delta(json!({"content": CALL.concat()})),
        delta(native),
        finish("tool_calls"),
    ]);
    let said = said(&bytes);
    assert_eq!(said.reasoning, "Hm.");
    let ids: Vec<_> = said.calls.iter().map(|call| (call.id.as_str(), call.ended.is_some())).collect();
    assert_eq!(ids, [("call_m1_0", true), ("n", true)]);
}

#[test]
fn tokens_of_a_failed_answer_are_counted() {
    let counts = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
    for bytes in [
        chat_done(&[delta(json!({"content": CALL[..5].concat()})), counts.clone()]),
        chat_done(&[counts.clone(), json!({"error": {"message": "m", "code": 503}})]),
    ] {
        let decoded = decode(&Limits::default(), [&bytes[..]]);
        assert!(decoded.end.is_err());
        assert_eq!(fold(&decoded.events).usage.unwrap().input_tokens, Some(7));
    }
}

#[test]
fn the_buffered_bytes_are_bounded() {
    let mut limits = Limits::default();
    limits.max_tool_args_bytes = 40;
    for (arguments, fits) in [(40, true), (41, false)] {
        let filler = "x".repeat(arguments - r#"{"a":""}"#.len());
        let text = format!(r#"{{"tool":"weather","with":{{"a":"{filler}"}}}}"#);
        let end = decode(&limits, [&stream(&[&text], "stop")[..]]).end;
        assert_eq!(end.is_ok(), fits, "{arguments}: {end:?}");
    }
    let blank = [" "; 50];
    let error = decode(
        &limits,
        [&chat(&[delta(json!({"content": "{"})), delta(json!({"content": blank.concat()}))])[..]],
    );
    assert_eq!(error.end.unwrap_err().provider_kind(), Some(ProviderErrorKind::TooLarge));
}

#[tokio::test]
async fn calls_and_text_over_a_socket() {
    let server = FakeProvider::start().await.unwrap();
    server
        .reply(Reply::sse(stream(CALL, "stop")).chunked_by(5))
        .reply(Reply::sse(stream(&["{\"a\":1}"], "stop")));
    let provider =
        OpenAiChatProvider::builder().base_url(server.base_url()).constrained_tools(true).build().unwrap();
    let events: Vec<_> = provider.stream(payload()).map(|event| event.unwrap()).collect().await;
    assert_eq!(fold(&events).calls[0].name, "weather");
    assert!(server.request(1).await.json().get("tools").is_none());
    // A run without tools has no schema, so its JSON is the answer.
    let mut free = payload();
    free.tools = Arc::from([]);
    let events: Vec<_> = provider.stream(free).map(|event| event.unwrap()).collect().await;
    assert_eq!(fold(&events).text, "{\"a\":1}");
}
