//! The content of messages, in the JSON form of the conventions. It is recorded only if the host enables it:
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#capturing-instructions-inputs-and-outputs>.

use omniassist_core::event::FinishReason;
use omniassist_core::transcript::{TranscriptItem, UserContent};
use omniassist_core::{JsonText, LlmEvent, Text};
use serde_json::{Value, json};

use super::finish_reason::finish_reason;

pub(super) fn system(text: &str) -> String {
    json!([text_part(text)]).to_string()
}

pub(super) fn input(transcript: &[TranscriptItem]) -> String {
    let messages = transcript.iter().filter_map(|item| {
        Some(match item {
            TranscriptItem::User { content } => {
                message("user", &content.iter().filter_map(user_part).collect::<Vec<_>>())
            }
            TranscriptItem::Text { text, .. } => message("assistant", &[text_part(text)]),
            TranscriptItem::Reasoning { text, .. } => message("assistant", &[reasoning_part(text)]),
            TranscriptItem::Call(call) => {
                message("assistant", &[call_part(&call.id, &call.name, call.arguments.as_str())])
            }
            TranscriptItem::Result(result) => {
                let response = value(&result.output);
                let part =
                    json!({ "type": "tool_call_response", "id": result.call_id, "response": response });
                message("tool", &[part])
            }
            _ => return None,
        })
    });
    Value::Array(messages.collect()).to_string()
}

fn message(role: &str, parts: &[Value]) -> Value {
    json!({ "role": role, "parts": parts })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

fn reasoning_part(text: &str) -> Value {
    json!({ "type": "reasoning", "content": text })
}

fn call_part(id: &str, name: &str, arguments: &str) -> Value {
    let arguments = serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| arguments.into());
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
}

/// Returns the part for a user's content. A file is named, never copied, so a `data:` URL is omitted.
fn user_part(content: &UserContent) -> Option<Value> {
    match content {
        UserContent::Text { text } => Some(text_part(text)),
        UserContent::File { media_type, url, .. } if url.starts_with("data:") => {
            Some(json!({ "type": "blob", "mime_type": media_type }))
        }
        UserContent::File { media_type, url, .. } => {
            Some(json!({ "type": "uri", "mime_type": media_type, "uri": url }))
        }
        _ => None,
    }
}

fn value(json: &JsonText) -> Value {
    serde_json::from_str(json.as_str()).unwrap_or_default()
}

/// The output of the model in one call.
#[derive(Default)]
pub(super) struct Said {
    reasoning: String,
    text: String,
    begun: Vec<(u32, Text, Text)>,
    calls: Vec<Value>,
}

impl Said {
    pub(super) fn take(&mut self, event: &LlmEvent) {
        match event {
            LlmEvent::TextDelta { delta, .. } | LlmEvent::RefusalDelta { delta, .. } => {
                self.text.push_str(delta);
            }
            LlmEvent::ReasoningDelta { delta, .. } => self.reasoning.push_str(delta),
            LlmEvent::ToolCallStart { call, id, name, .. } => {
                self.begun.push((*call, id.clone(), name.clone()));
            }
            LlmEvent::ToolCallEnd { call, arguments, .. } => {
                if let Some((_, id, name)) = self.begun.iter().find(|(number, ..)| number == call) {
                    self.calls.push(call_part(id, name, arguments));
                }
            }
            _ => {}
        }
    }

    pub(super) fn to_json(&self, finish: Option<&FinishReason>) -> String {
        let mut parts = Vec::new();
        if !self.reasoning.is_empty() {
            parts.push(reasoning_part(&self.reasoning));
        }
        if !self.text.is_empty() {
            parts.push(text_part(&self.text));
        }
        parts.extend_from_slice(&self.calls);
        let mut message = message("assistant", &parts);
        if let (Some(reason), Some(fields)) = (finish, message.as_object_mut()) {
            fields.insert("finish_reason".to_owned(), finish_reason(reason).into());
        }
        Value::Array(vec![message]).to_string()
    }
}
