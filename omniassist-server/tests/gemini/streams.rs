//! Handwritten streams for cases that no recording covers and for tests without recordings.

use serde_json::{Value, json};

/// Encodes events with CRLF line ends, as the API does.
pub(crate) fn sse(chunks: &[Value]) -> Vec<u8> {
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect::<String>().into_bytes()
}

/// Returns a chunk with these parts.
pub(crate) fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
           "modelVersion": "gemini-test", "responseId": "resp1"})
}

/// Returns a chunk with these parts that ends the answer.
pub(crate) fn last(parts_: Value, reason: &str) -> Value {
    let mut chunk = parts(parts_);
    chunk["candidates"][0]["finishReason"] = reason.into();
    chunk["usageMetadata"] = json!({"promptTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 3,
                                    "totalTokenCount": 17, "cachedContentTokenCount": 2});
    chunk
}

/// Returns a part with a call that has no id.
pub(crate) fn call(name: &str, args: Value) -> Value {
    json!({"functionCall": {"name": name, "args": args}})
}

/// Returns thoughts, text and two parallel calls. Of the calls, only the first has a signature, as in the API.
pub(crate) fn thoughts_and_calls() -> Vec<u8> {
    let mut first = call("weather", json!({"city": "Zürich", "days": [1, 2]}));
    first["thoughtSignature"] = "call+/sig==".into();
    sse(&[
        parts(json!([{"text": "Let me ", "thought": true}])),
        parts(
            json!([{"text": "think \"hard\"\n🦀.", "thought": true, "thoughtSignature": "thought+/sig=="}]),
        ),
        parts(json!([{"text": "I "}, {"text": "look."}])),
        parts(json!([first, call("time", json!({}))])),
        last(json!([{"text": "", "thoughtSignature": "last+/sig=="}]), "STOP"),
    ])
}

/// Returns a whole call, a call in pieces without its last piece, and a complete call in pieces.
pub(crate) fn streamed_arguments() -> Vec<u8> {
    let begin = |name: &str| json!([{"functionCall": {"name": name, "willContinue": true}}]);
    let piece = |path: &str, value: &str, more: bool| {
        let piece = json!({"jsonPath": path, "stringValue": value, "willContinue": more});
        json!([{"functionCall": {"partialArgs": [piece], "willContinue": true}}])
    };
    sse(&[
        parts(json!([call("whole", json!({"a": 1}))])),
        parts(begin("endless")),
        parts(piece("$.text", "all is ", true)),
        parts(piece("$.text", "said", false)),
        parts(begin("weather")),
        parts(piece("$.places[0].city", "Züri", true)),
        parts(piece("$.places[0].city", "ch", false)),
        parts(json!([{"functionCall": {
            "partialArgs": [{"jsonPath": "$.days", "numberValue": 3}, {"jsonPath": "$.brief", "boolValue": true}],
        }}])),
        last(json!([]), "STOP"),
    ])
}

/// Returns all handwritten streams with calls.
pub(crate) fn with_calls() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("thoughts and calls", thoughts_and_calls()),
        ("streamed arguments", streamed_arguments()),
        (
            "cut call",
            sse(&[
                parts(json!([call("first", json!({"n": 1}))])),
                last(json!([call("second", json!({"n": 2}))]), "MAX_TOKENS"),
            ]),
        ),
    ]
}
