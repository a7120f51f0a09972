//! Bodies in the format of OpenAI's Responses API
//! ([reference](https://platform.openai.com/docs/api-reference/responses-streaming)).

use serde_json::{Value, json};

use super::body::{Part, SseBody, constructors, deltas};

constructors!();

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
    if !matches!(body.parts.as_slice(), [Part::Error { .. }]) {
        events.push("response.created", json!({ "response": response("in_progress", &[], None) }));
        events.push("response.in_progress", json!({ "response": response("in_progress", &[], None) }));
    }
    let mut output = Vec::new();
    for (index, part) in body.parts.iter().enumerate() {
        if let Part::Error { code, message } = part {
            events.push("error", json!({ "code": code, "message": message, "param": null }));
            return events.out;
        }
        output.extend(push_item(&mut events, index, part, body.cut && index + 1 == body.parts.len()));
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
        "incomplete_details": incomplete, "model": "fake-model", "output": output, "usage": usage,
    })
}

/// The names of the events and fields of an output item.
struct Kind {
    id_prefix: &'static str,
    /// The events and the index of the part that holds the text, if there is such a part.
    part: Option<(&'static str, &'static str)>,
    /// The events of the text.
    text: &'static str,
    /// The field of the whole text.
    whole: &'static str,
    /// `true` if an item that is cut has its ends.
    ends_when_cut: bool,
}

const MESSAGE: Kind = Kind {
    id_prefix: "msg",
    part: Some(("response.content_part", "content_index")),
    text: "response.output_text",
    whole: "text",
    ends_when_cut: true,
};

const REASONING: Kind = Kind {
    id_prefix: "rs",
    part: Some(("response.reasoning_summary_part", "summary_index")),
    text: "response.reasoning_summary_text",
    whole: "text",
    ends_when_cut: false,
};

const CALL: Kind = Kind {
    id_prefix: "fc",
    part: None,
    text: "response.function_call_arguments",
    whole: "arguments",
    ends_when_cut: false,
};

/// Writes the events of an item, and returns the whole item.
fn push_item(events: &mut Events, index: usize, part: &Part, cut: bool) -> Option<Value> {
    let (kind, text) = match part {
        Part::Text(text) => (MESSAGE, text),
        Part::Reasoning(text) => (REASONING, text),
        Part::Call { arguments, .. } => (CALL, arguments),
        Part::Error { .. } => return None,
    };
    let id = format!("{}_fake_{index}", kind.id_prefix);
    let content = |text: &str| match part {
        Part::Text(_) => {
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        }
        _ => json!({ "type": "summary_text", "text": text }),
    };
    let item = |status: &str, text: Option<&str>| {
        let contents: Vec<_> = text.map(content).into_iter().collect();
        match part {
            Part::Call { id: call_id, name, .. } => json!({
                "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
                "arguments": text.unwrap_or_default(),
            }),
            Part::Reasoning(_) => json!({ "id": id, "type": "reasoning", "summary": contents }),
            _ => json!({
                "id": id, "type": "message", "role": "assistant", "status": status, "content": contents,
            }),
        }
    };
    let at = |name: &str, value: Value| -> Value {
        let fields = [("item_id", json!(id)), ("output_index", json!(index)), (name, value)];
        let place = kind.part.map(|(_, place)| (place, json!(0)));
        let has_logprobs = matches!(part, Part::Text(_)) && name != "part";
        fields.into_iter().chain(place).chain(has_logprobs.then(|| ("logprobs", json!([])))).collect()
    };
    events.push(
        "response.output_item.added",
        json!({ "output_index": index, "item": item("in_progress", None) }),
    );
    if let Some((name, _)) = kind.part {
        events.push(&format!("{name}.added"), at("part", content("")));
    }
    for delta in deltas(text) {
        events.push(&format!("{}.delta", kind.text), at("delta", delta.into()));
    }
    let whole = item(if cut { "incomplete" } else { "completed" }, Some(text));
    if !cut || kind.ends_when_cut {
        events.push(&format!("{}.done", kind.text), at(kind.whole, text.as_str().into()));
        if let Some((name, _)) = kind.part {
            events.push(&format!("{name}.done"), at("part", content(text)));
        }
        events.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    }
    Some(whole)
}
