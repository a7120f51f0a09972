//! A client's view of an answer, and its differences from the expected view.

use omniassist_server::core::message::{Message, Part, ToolState};
use omniassist_server::core::{FinishReason, Usage};
use serde_json::{Value, json};

use super::library::Recording;

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as JSON, or a string with the received arguments of a call that cannot run.
    pub(crate) input: Value,
    /// `true` if the call was passed on for execution.
    pub(crate) runs: bool,
}

/// The view of one model turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Seen {
    /// Visible text, including refusals.
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    /// The number of items that the provider ran itself.
    pub(crate) builtin: usize,
    pub(crate) citations: usize,
    /// The finish reason as spelled in EXPECTED. `None` if the layer does not report it.
    pub(crate) finish: Option<String>,
    /// `None` if the layer does not report it.
    pub(crate) usage: Option<Value>,
}

/// The layer that produced a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Engine,
    /// The AI SDK's stream. It reports refusals as `content-filter` and unknown reasons as `other`.
    Http,
}

/// Returns a reason as spelled in EXPECTED.
pub(crate) fn reason_word(reason: &FinishReason) -> String {
    match reason {
        FinishReason::Other(word) => format!("other:{word}"),
        known => serde_json::to_value(known).unwrap().as_str().unwrap().replace('-', "_"),
    }
}

/// Returns usage in the form of EXPECTED.
pub(crate) fn usage_fields(usage: &Usage) -> Value {
    json!({
        "input": usage.input_tokens, "output": usage.output_tokens, "total": usage.total_tokens,
        "cached_input": usage.cached_input_tokens, "reasoning": usage.reasoning_tokens,
    })
}

/// Returns the view from the first step of a collected message, without finish and usage.
pub(crate) fn from_message(message: &Message) -> Seen {
    let mut seen = Seen::default();
    let mut steps = 0;
    for part in &message.parts {
        match part {
            Part::StepStart => steps += 1,
            _ if steps > 1 => {}
            Part::Text(part) => seen.text.push_str(&part.text),
            Part::Reasoning(part) => seen.reasoning.push_str(&part.text),
            Part::Source(_) => seen.citations += 1,
            Part::Tool(tool) if tool.provider_executed => seen.builtin += 1,
            Part::Tool(tool) => seen.calls.push(Call {
                id: tool.call_id.to_string(),
                name: tool.name.to_string(),
                input: tool.state.input().map(|input| input.to_value()).unwrap_or_default(),
                runs: matches!(
                    tool.state,
                    ToolState::OutputAvailable { .. } | ToolState::InputAvailable { .. }
                ),
            }),
            _ => {}
        }
    }
    seen
}

/// Returns the differences from EXPECTED.
pub(crate) fn differences(seen: &Seen, recording: &Recording, layer: Layer) -> Vec<String> {
    let expected = &recording.expected;
    let mut wrong = Vec::new();
    let mut compare = |what: &str, found: Value, wanted: Value| {
        if found != wanted {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            wrong.push(format!("{what}: found {}, expected {}", short(&found), short(&wanted)));
        }
    };
    let [text, refusal] = ["text", "refusal"].map(|field| expected[field].as_str().unwrap());
    compare("text", seen.text.as_str().into(), format!("{text}{refusal}").into());
    compare("reasoning", seen.reasoning.as_str().into(), expected["reasoning"].clone());
    // Anthropic sends a call that it ran and its result as two items with one id, which form one message part.
    let builtin = expected["builtin"].as_array().unwrap();
    let is_use_of = |item: &Value, id: &Value| item["type"] == "server_tool_use" && item["id"] == *id;
    let is_joined = |item: &&Value| {
        let is_result = item["type"].as_str().is_some_and(|kind| kind.ends_with("_tool_result"));
        is_result && builtin.iter().any(|other| is_use_of(other, &item["id"]))
    };
    let joined = if layer == Layer::Engine { builtin.iter().filter(is_joined).count() } else { 0 };
    compare("builtin", seen.builtin.into(), (builtin.len() - joined).into());
    compare("citations", seen.citations.into(), expected["citations"].clone());

    let wanted: Vec<Value> = recording
        .calls()
        .iter()
        .zip(seen.calls.iter().map(Some).chain(std::iter::repeat(None)))
        .map(|(call, found)| {
            let complete = call["complete"].as_bool().unwrap();
            let custom = call["kind"] == "custom";
            let input = if complete && !custom { &call["arguments"] } else { &call["arguments_raw"] };
            // Gemini's calls need no id, so any id is accepted.
            let id = call["id"].as_str().or(found.map(|call| call.id.as_str()));
            // No tool takes free text, so the run loop refuses such a call.
            json!([id, call["name"], input, complete && !custom])
        })
        .collect();
    let found: Vec<Value> =
        seen.calls.iter().map(|call| json!([call.id, call.name, call.input, call.runs])).collect();
    compare("calls", found.into(), wanted.into());

    let mut finish = expected["finish"].as_str().unwrap();
    // The run loop derives the reason from the calls, independently of the provider's reason.
    finish = match (finish, recording.calls().is_empty()) {
        ("stop", false) => "tool_calls",
        ("tool_calls", true) => "stop",
        (word, _) => word,
    };
    if layer == Layer::Http && finish == "refusal" {
        finish = "content_filter";
    }
    if layer != Layer::Http || seen.finish.is_some() {
        compare("finish", seen.finish.clone().into(), finish.into());
    }
    if let Some(usage) = &seen.usage {
        let wanted = match &expected["usage"] {
            Value::Null => usage_fields(&Usage::default()),
            fields => fields.clone(),
        };
        compare("usage", usage.clone(), wanted);
    }
    wrong
}
