//! Bodies in the format of OpenAI's Responses API
//! ([reference](https://platform.openai.com/docs/api-reference/responses-streaming)).

use serde_json::{Value, json};

use super::body::{Part, SseBody, deltas};

/// Creates an answer without parts.
pub fn empty() -> SseBody {
    SseBody::new(render)
}

/// Creates an answer with `text`.
pub fn text(text: impl Into<String>) -> SseBody {
    empty().text(text)
}

/// Creates an answer that calls a tool.
pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Value>) -> SseBody {
    empty().call(id, name, arguments)
}

/// Creates an error in place of an answer, under a good status.
pub fn error(code: impl Into<String>, message: impl Into<String>) -> SseBody {
    empty().error(code, message)
}

const MODEL: &str = "fake-model";

/// Events with consecutive sequence numbers.
#[derive(Default)]
struct Events {
    out: String,
    sequence: u64,
}

impl Events {
    fn push(&mut self, kind: &str, mut data: Value) {
        if let Value::Object(fields) = &mut data {
            fields.insert("type".to_owned(), kind.into());
            fields.insert("sequence_number".to_owned(), self.sequence.into());
        }
        self.sequence += 1;
        self.out.extend(["event: ", kind, "\ndata: ", &data.to_string(), "\n\n"]);
    }
}

fn render(body: &SseBody) -> String {
    let mut events = Events::default();
    if let [Part::Error { code, message }] = body.parts.as_slice() {
        events.push("error", json!({ "code": code, "message": message, "param": null }));
        return events.out;
    }
    events.push("response.created", json!({ "response": response("in_progress", &[], None) }));
    events.push("response.in_progress", json!({ "response": response("in_progress", &[], None) }));
    let mut output = Vec::new();
    for (index, part) in body.parts.iter().enumerate() {
        let cut = body.cut && index + 1 == body.parts.len();
        let item = match part {
            Part::Text(text) => message(&mut events, index, text, cut),
            Part::Reasoning(text) => reasoning(&mut events, index, text, cut),
            Part::Call { id, name, arguments } => push_call(&mut events, index, (id, name, arguments), cut),
            Part::Error { code, message } => {
                events.push("error", json!({ "code": code, "message": message, "param": null }));
                return events.out;
            }
        };
        output.push(item);
    }
    let (kind, status) =
        if body.cut { ("response.incomplete", "incomplete") } else { ("response.completed", "completed") };
    events.push(kind, json!({ "response": response(status, &output, body.usage) }));
    events.out
}

fn response(status: &str, output: &[Value], usage: Option<(u64, u64)>) -> Value {
    let usage = usage.map(|(input, out)| {
        json!({
            "input_tokens": input,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": out,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": input.saturating_add(out),
        })
    });
    let incomplete = (status == "incomplete").then(|| json!({ "reason": "max_output_tokens" }));
    json!({
        "id": "resp_fake", "object": "response", "created_at": 0, "status": status, "error": null,
        "incomplete_details": incomplete, "model": MODEL, "output": output, "usage": usage,
    })
}

fn message(events: &mut Events, index: usize, text: &str, cut: bool) -> Value {
    let id = format!("msg_fake_{index}");
    let item = |status: &str, content: Value| json!({ "id": id, "type": "message", "role": "assistant", "status": status, "content": content });
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
    let at = |mut fields: Value| {
        if let Value::Object(fields) = &mut fields {
            fields.insert("item_id".to_owned(), id.as_str().into());
            fields.insert("output_index".to_owned(), index.into());
            fields.insert("content_index".to_owned(), 0.into());
        }
        fields
    };
    let added = json!({ "output_index": index, "item": item("in_progress", json!([])) });
    events.push("response.output_item.added", added);
    events.push("response.content_part.added", at(json!({ "part": part("") })));
    for delta in deltas(text) {
        events.push("response.output_text.delta", at(json!({ "delta": delta, "logprobs": [] })));
    }
    let status = if cut { "incomplete" } else { "completed" };
    let whole = item(status, json!([part(text)]));
    events.push("response.output_text.done", at(json!({ "text": text, "logprobs": [] })));
    events.push("response.content_part.done", at(json!({ "part": part(text) })));
    events.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    whole
}

fn reasoning(events: &mut Events, index: usize, text: &str, cut: bool) -> Value {
    let id = format!("rs_fake_{index}");
    let item = |summary: Value| json!({ "id": id, "type": "reasoning", "summary": summary });
    let at = |mut fields: Value| {
        if let Value::Object(fields) = &mut fields {
            fields.insert("item_id".to_owned(), id.as_str().into());
            fields.insert("output_index".to_owned(), index.into());
            fields.insert("summary_index".to_owned(), 0.into());
        }
        fields
    };
    let part = |text: &str| json!({ "type": "summary_text", "text": text });
    let added = json!({ "output_index": index, "item": item(json!([])) });
    events.push("response.output_item.added", added);
    events.push("response.reasoning_summary_part.added", at(json!({ "part": part("") })));
    for delta in deltas(text) {
        events.push("response.reasoning_summary_text.delta", at(json!({ "delta": delta })));
    }
    let whole = item(json!([part(text)]));
    if !cut {
        events.push("response.reasoning_summary_text.done", at(json!({ "text": text })));
        events.push("response.reasoning_summary_part.done", at(json!({ "part": part(text) })));
        events.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    }
    whole
}

fn push_call(
    events: &mut Events,
    index: usize,
    (call_id, name, arguments): (&str, &str, &str),
    cut: bool,
) -> Value {
    let id = format!("fc_fake_{index}");
    let item = |status: &str, arguments: &str| {
        json!({
            "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
            "arguments": arguments,
        })
    };
    let added = json!({ "output_index": index, "item": item("in_progress", "") });
    events.push("response.output_item.added", added);
    for delta in deltas(arguments) {
        let delta = json!({ "item_id": id, "output_index": index, "delta": delta });
        events.push("response.function_call_arguments.delta", delta);
    }
    let whole = item(if cut { "incomplete" } else { "completed" }, arguments);
    if !cut {
        let done = json!({ "item_id": id, "output_index": index, "arguments": arguments });
        events.push("response.function_call_arguments.done", done);
        events.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    }
    whole
}
