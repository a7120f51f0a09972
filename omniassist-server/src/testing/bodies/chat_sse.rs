//! Bodies in the format of OpenAI's Chat Completions API and compatible servers
//! ([reference](https://platform.openai.com/docs/api-reference/chat-streaming)).

use serde_json::{Value, json};

use super::body::{Part, SseBody, constructors, deltas};

constructors!();

fn render(body: &SseBody) -> String {
    let mut out = String::new();
    let mut calls = 0;
    if !matches!(body.parts.as_slice(), [Part::Error { .. }]) {
        choice(&mut out, &json!({ "role": "assistant", "content": "" }), None);
    }
    for part in &body.parts {
        match part {
            Part::Text(text) => {
                for delta in deltas(text) {
                    choice(&mut out, &json!({ "content": delta }), None);
                }
            }
            Part::Reasoning(text) => {
                for delta in deltas(text) {
                    choice(&mut out, &json!({ "reasoning_content": delta }), None);
                }
            }
            Part::Call { id, name, arguments } => {
                let head = json!([{
                    "index": calls, "id": id, "type": "function", "function": { "name": name, "arguments": "" },
                }]);
                choice(&mut out, &json!({ "tool_calls": head }), None);
                for delta in deltas(arguments) {
                    let tail = json!([{ "index": calls, "function": { "arguments": delta } }]);
                    choice(&mut out, &json!({ "tool_calls": tail }), None);
                }
                calls += 1;
            }
            Part::Error { code, message } => {
                let error =
                    json!({ "message": message, "type": "server_error", "param": null, "code": code });
                data(&mut out, &json!({ "error": error }).to_string());
                data(&mut out, "[DONE]");
                return out;
            }
        }
    }
    let finish = match (body.cut, calls) {
        (true, _) => "length",
        (false, 0) => "stop",
        (false, _) => "tool_calls",
    };
    choice(&mut out, &json!({}), Some(finish));
    if let Some((input, output)) = body.usage {
        let usage = json!({
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output),
        });
        data(&mut out, &chunk(&json!([]), usage).to_string());
    }
    data(&mut out, "[DONE]");
    out
}

fn choice(out: &mut String, delta: &Value, finish: Option<&str>) {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    data(out, &chunk(&choices, Value::Null).to_string());
}

fn chunk(choices: &Value, usage: Value) -> Value {
    let mut chunk = json!({
        "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": "fake-model",
        "choices": choices,
    });
    if let (Value::Object(fields), false) = (&mut chunk, usage.is_null()) {
        fields.insert("usage".to_owned(), usage);
    }
    chunk
}

fn data(out: &mut String, json: &str) {
    out.extend(["data: ", json, "\n\n"]);
}
