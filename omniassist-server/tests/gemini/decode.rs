//! Tests of the Gemini decoder with handwritten streams.

use omniassist_server::ProviderErrorKind;
use omniassist_server::core::event::Source;
use omniassist_server::core::{EventBuf, FinishReason, Limits, LlmEvent};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::gemini::GeminiDecoder;
use serde_json::{Value, json};

use super::streams::{call, last, parts, sse, streamed_arguments, thoughts_and_calls};
use super::whole;
use crate::recordings::{Said, fold};

fn said(chunks: &[Value]) -> Said {
    of_bytes(&sse(chunks))
}

fn of_bytes(bytes: &[u8]) -> Said {
    let decoded = whole(bytes);
    assert!(decoded.end.is_ok(), "{:?}", decoded.end);
    fold(&decoded.events)
}

/// Returns the id, the name and the final arguments of each call.
fn calls(said: &Said) -> Vec<(&str, &str, Option<Value>)> {
    let arguments =
        |text: &String| if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap() };
    said.calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.ended.as_ref().map(arguments)))
        .collect()
}

fn error(bytes: &[u8]) -> omniassist_server::Error {
    whole(bytes).end.unwrap_err()
}

#[test]
fn signatures_stay_with_their_part() {
    let events = whole(&thoughts_and_calls()).events;
    let signatures: Vec<_> = events
        .iter()
        .filter_map(|event| {
            let (kind, metadata) = match event {
                LlmEvent::ReasoningEnd { metadata, .. } => ("reasoning", metadata),
                LlmEvent::TextEnd { metadata, .. } => ("text", metadata),
                LlmEvent::ToolCallEnd { metadata, .. } => ("call", metadata),
                _ => return None,
            };
            Some((kind, json!(metadata)))
        })
        .collect();
    let signed = |signature: &str| json!({"google": {"thoughtSignature": signature}});
    assert_eq!(
        signatures,
        [
            ("reasoning", signed("thought+/sig==")),
            ("text", Value::Null),
            ("reasoning", signed("last+/sig==")),
            ("call", signed("call+/sig==")),
            ("call", Value::Null),
        ]
    );
    let said = fold(&events);
    assert_eq!((said.reasoning.as_str(), said.text.as_str()), ("Let me think \"hard\"\n🦀.", "I look."));
    assert_eq!(said.finish, Some((FinishReason::ToolCalls, Some("STOP".to_owned()), false)));
    let usage = said.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (Some(10), Some(7), Some(17)));
    assert_eq!((usage.cached_input_tokens, usage.reasoning_tokens), (Some(2), Some(3)));
}

#[test]
fn an_empty_signed_part_signs_the_text_before_it() {
    let events = whole(&sse(&[
        parts(json!([{"text": "Hi"}])),
        last(json!([{"text": "", "thoughtSignature": "s"}]), "STOP"),
    ]))
    .events;
    let end = events.iter().find(|event| matches!(event, LlmEvent::TextEnd { .. }));
    assert_eq!(
        end,
        Some(&LlmEvent::TextEnd {
            block: 0,
            metadata: serde_json::from_value(json!({"google": {"thoughtSignature": "s"}})).unwrap(),
        })
    );
    assert!(!events.iter().any(|event| matches!(event, LlmEvent::ReasoningEnd { .. })));
}

#[test]
fn arguments_in_pieces_are_joined() {
    let said = of_bytes(&streamed_arguments());
    assert_eq!(
        calls(&said),
        [
            ("gemini_test_0", "whole", Some(json!({"a": 1}))),
            ("gemini_test_1", "endless", Some(json!({"text": "all is said"}))),
            (
                "gemini_test_2",
                "weather",
                Some(json!({"places": [{"city": "Zürich"}], "days": 3, "brief": true}))
            ),
        ]
    );
    assert!(said.calls.iter().all(|call| call.ended.as_ref() == Some(&call.streamed)));
}

#[test]
fn an_unfinished_argument_leaves_its_call_incomplete() {
    let begin = || parts(json!([{"functionCall": {"name": "weather", "willContinue": true}}]));
    let half = || {
        let piece = json!({"jsonPath": "$.city", "stringValue": "Zü", "willContinue": true});
        parts(json!([{"functionCall": {"partialArgs": [piece], "willContinue": true}}]))
    };
    for end in [vec![last(json!([]), "STOP")], vec![last(json!([call("time", json!({}))]), "STOP")]] {
        let mut chunks = vec![begin(), half()];
        chunks.extend(end);
        let said = said(&chunks);
        assert_eq!(said.calls[0].ended, None);
        assert_eq!(said.calls[0].streamed, "{\"city\":\"Zü\"}");
        assert!(said.calls.get(1).is_none_or(|call| call.ended.is_some()));
    }
}

#[test]
fn ids_are_kept_and_made_unique() {
    let with_id = |id: &str| json!({"functionCall": {"id": id, "name": "weather", "args": {}}});
    let said = said(&[last(json!([with_id("a"), with_id("a"), {"functionCall": {"name": "time"}}]), "STOP")]);
    assert_eq!(
        calls(&said),
        [
            ("a", "weather", Some(json!({}))),
            ("gemini_test_1", "weather", Some(json!({}))),
            ("gemini_test_2", "time", Some(Value::Null)),
        ]
    );
}

#[test]
fn a_finish_reason_that_truncates_drops_the_last_call() {
    use FinishReason::{ContentFilter, Error, Length, Other};
    for (word, reason) in [
        ("MAX_TOKENS", Length),
        ("SAFETY", ContentFilter),
        ("RECITATION", ContentFilter),
        ("BLOCKLIST", ContentFilter),
        ("PROHIBITED_CONTENT", ContentFilter),
        ("SPII", ContentFilter),
        ("MALFORMED_FUNCTION_CALL", Error),
        ("UNEXPECTED_TOOL_CALL", Error),
        ("BRAND_NEW", Other("BRAND_NEW".into())),
    ] {
        let said = said(&[
            parts(json!([call("weather", json!({"n": 1}))])),
            last(json!([call("weather", json!({"n": 2}))]), word),
        ]);
        assert!(said.calls[0].ended.is_some() && said.calls[1].ended.is_none(), "{word}");
        let truncated = reason.is_cut();
        assert_eq!(said.finish, Some((reason, Some(word.to_owned()), truncated)));
    }
}

#[test]
fn the_last_finish_reason_applies() {
    let said = said(&[
        last(json!([{"text": "Hal"}]), "STOP"),
        parts(json!([{"text": "lo"}])),
        last(json!([call("weather", json!({}))]), "MAX_TOKENS"),
    ]);
    assert_eq!((said.text.as_str(), said.finish.unwrap().0), ("Hallo", FinishReason::Length));
    assert_eq!(said.calls[0].ended, None);
}

#[test]
fn an_answer_without_a_finish_reason_is_interrupted() {
    let bytes = sse(&[parts(json!([{"text": "Hal"}, call("weather", json!({}))]))]);
    let decoded = whole(&bytes);
    assert_eq!(decoded.end.unwrap_err().provider_kind(), Some(ProviderErrorKind::Interrupted));
    let said = fold(&decoded.events);
    assert_eq!((said.finish, said.calls[0].ended.as_ref()), (None, None));
    assert_eq!(error(b"").provider_kind(), Some(ProviderErrorKind::Interrupted));
    // An event without its blank line is only accepted if it ends the answer.
    let bytes = sse(&[last(json!([{"text": "Hallo"}]), "STOP")]);
    assert_eq!(of_bytes(bytes.trim_ascii_end()).text, "Hallo");
}

#[test]
fn a_blocked_prompt_finishes_with_content_filter() {
    let said = said(&[json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}})]);
    assert_eq!(said.finish, Some((FinishReason::ContentFilter, Some("PROHIBITED_CONTENT".to_owned()), true)));
    assert_eq!((said.usage.unwrap().input_tokens, said.usage.unwrap().output_tokens), (Some(5), None));
}

#[test]
fn code_files_and_sources() {
    let mut chunk = last(
        json!([
            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
            {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
            {"inlineData": {"mimeType": "image/png", "data": "RFJBRlQ="}, "thought": true},
        ]),
        "STOP",
    );
    chunk["candidates"][0]["groundingMetadata"] = json!({"groundingChunks": [
        {"web": {"uri": "https://a.example/", "title": "A"}},
        {"web": {"uri": "https://a.example/", "title": "A"}},
        {"retrievedContext": {"uri": "corpora/1/doc", "title": "Doc"}},
    ]});
    chunk["candidates"][0]["citationMetadata"] = json!({"citationSources": [{"uri": "https://b.example/"}]});
    let events = whole(&sse(&[chunk])).events;
    let item = events.iter().find_map(|event| match event {
        LlmEvent::ProviderTool { kind, item, .. } if *kind == "code_execution" => Some(item.to_value()),
        _ => None,
    });
    assert_eq!(
        item,
        Some(json!({"executableCode": {"language": "PYTHON", "code": "print(1)"},
                    "codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}))
    );
    let files: Vec<_> = events.iter().filter(|event| matches!(event, LlmEvent::File { .. })).collect();
    let file = LlmEvent::File { media_type: "image/png".into(), url: "data:image/png;base64,QUJD".into() };
    assert_eq!(files, [&file]);
    let sources: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::Source(Source::Url { id, url, .. }) => Some(format!("{id} {url}")),
            LlmEvent::Source(Source::Document { id, title, .. }) => Some(format!("{id} {title}")),
            _ => None,
        })
        .collect();
    assert_eq!(sources, ["resp1-0 https://a.example/", "resp1-1 Doc", "resp1-2 https://b.example/"]);
}

#[test]
fn errors_in_the_stream_in_every_shape() {
    use ProviderErrorKind::{RateLimited, Response, Unavailable};
    let report = |code: u16, status: &str| json!({"error": {"code": code, "message": "m", "status": status}});
    for (chunk, kind) in [
        (report(429, "RESOURCE_EXHAUSTED"), RateLimited),
        (report(503, "UNAVAILABLE"), Unavailable),
        (json!([report(500, "INTERNAL")]), Unavailable),
        (report(400, "INVALID_ARGUMENT"), Response),
    ] {
        let in_band = whole(&sse(&[parts(json!([{"text": "Hal"}])), chunk.clone()]));
        assert_eq!(in_band.end.unwrap_err().provider_kind(), Some(kind), "{chunk}");
        assert_eq!(fold(&in_band.events).text, "Hal");
        // The same error is the complete body.
        assert_eq!(error(chunk.to_string().as_bytes()).provider_kind(), Some(kind), "{chunk}");
    }
    let page = error(b"<html>sign in</html>");
    assert_eq!(page.provider_kind(), Some(ProviderErrorKind::Protocol));
    assert_eq!(error(b"[{\"error\":{\"mess").provider_kind(), Some(ProviderErrorKind::Interrupted));
    let unstreamed = error(json!([last(json!([{"text": "Hi"}]), "STOP")]).to_string().as_bytes());
    assert_eq!(unstreamed.provider_kind(), Some(ProviderErrorKind::Protocol));
}

#[test]
fn keep_alives_and_unknown_fields_are_ignored() {
    let mut bytes = b": ping\r\n\r\ndata:\r\n\r\ndata: [DONE]\r\n\r\n".to_vec();
    let mut odd = last(json!([{"text": "Hi"}, null, {"brandNew": {"a": 1}}]), "STOP");
    odd["candidates"][0]["safetyRatings"] = json!([{"category": "X"}]);
    odd["usageMetadata"]["promptTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": 10}]);
    let other = json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "other"}]}}]});
    bytes.extend(sse(&[other, odd]));
    assert_eq!(of_bytes(&bytes).text, "Hi");
}

#[test]
fn arguments_are_bounded() {
    let mut limits = Limits::default();
    limits.max_tool_args_bytes = 10;
    let piece = json!({"jsonPath": "$.a", "stringValue": "0123456789"});
    let streamed = json!({"functionCall": {"name": "weather", "partialArgs": [piece], "willContinue": true}});
    for part in [call("weather", json!({"city": "Zürich"})), streamed] {
        let mut decoder = GeminiDecoder::new(&limits, "test");
        let bytes = sse(&[parts(json!([part]))]);
        let error = decoder.feed(bytes.into(), &mut EventBuf::new()).unwrap_err();
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::TooLarge));
    }
}
