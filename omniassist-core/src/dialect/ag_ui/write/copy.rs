//! The client's copy of a conversation, for snapshots of it.

use serde_json::{Map, Value, json};

use crate::Text;
use crate::dialect::json_write::provider_state;
use crate::message::{FilePart, Message, Part, ProviderMetadata, Role};

/// The messages that a client has after the events so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ClientCopy {
    pub(super) messages: Vec<Value>,
    /// The number of messages and of calls before the current step.
    pub(super) before_step: (usize, usize),
    /// `true` if a message had the answer's id before the current step.
    pub(super) was_named: bool,
}

impl ClientCopy {
    /// Adds a message that is not of the assistant, in the form that a client would have.
    pub(super) fn add(&mut self, message: &Message) {
        let role = if message.role == Role::System { "system" } else { "user" };
        let is_text = message.parts.iter().all(|part| matches!(part, Part::Text(_)));
        let content = match is_text {
            true => Value::from(message.text()),
            false => message.parts.iter().filter_map(content).collect(),
        };
        self.messages.push(json!({"id": message.id, "role": role, "content": content}));
    }

    /// Adds the provider's state of a call.
    pub(super) fn add_state(&mut self, call_id: &str, state: &ProviderMetadata) {
        let state = provider_state(state);
        if let Some(call) = self.call(&call_id.into()).filter(|_| !state.is_empty()) {
            call.insert("encryptedValue".into(), serde_json::to_string(&state).unwrap_or_default().into());
        }
    }

    fn message(&mut self, id: &Value) -> Option<&mut Map<String, Value>> {
        let mut messages = self.messages.iter_mut().rev();
        messages.find(|message| message.get("id") == Some(id)).and_then(Value::as_object_mut)
    }

    fn call(&mut self, id: &Value) -> Option<&mut Map<String, Value>> {
        let calls = self.messages.iter_mut().rev().filter_map(|message| message.get_mut("toolCalls"));
        let mut calls = calls.filter_map(Value::as_array_mut).flatten();
        calls.find(|call| call.get("id") == Some(id)).and_then(Value::as_object_mut)
    }

    /// Applies an event of the stream.
    pub(super) fn apply(&mut self, frame: &Value) {
        let (id, call_id, delta) =
            (at(frame, "messageId"), at(frame, "toolCallId"), at(frame, "delta").as_str());
        match at(frame, "type").as_str().unwrap_or_default() {
            "TEXT_MESSAGE_START" => self.start(json!({"id": id, "role": "assistant", "content": ""})),
            "REASONING_MESSAGE_START" => self.start(json!({"id": id, "role": "reasoning", "content": ""})),
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                append(self.message(id).and_then(|message| message.get_mut("content")), delta);
            }
            "TOOL_CALL_START" => {
                let function = json!({"name": at(frame, "toolCallName"), "arguments": ""});
                let call = json!({"id": call_id, "type": "function", "function": function});
                self.start_call(at(frame, "parentMessageId"), call);
            }
            "TOOL_CALL_ARGS" => {
                let function = self.call(call_id).and_then(|call| call.get_mut("function"));
                append(function.and_then(|function| function.get_mut("arguments")), delta);
            }
            "TOOL_CALL_END" => merge(self.call(call_id), frame),
            "TOOL_CALL_RESULT" => {
                let content = at(frame, "content");
                let result = json!({"id": id, "role": "tool", "toolCallId": call_id, "content": content});
                let at = self.place_of_result(call_id);
                self.messages.insert(at, result);
                merge(self.messages.get_mut(at).and_then(Value::as_object_mut), frame);
            }
            "REASONING_ENCRYPTED_VALUE" => {
                let (id, value) = (at(frame, "entityId"), at(frame, "encryptedValue"));
                let is_call = at(frame, "subtype") == "tool-call";
                if let Some(entity) = if is_call { self.call(id) } else { self.message(id) } {
                    entity.insert("encryptedValue".into(), value.clone());
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, message: Value) {
        if self.message(at(&message, "id")).is_none() {
            self.messages.push(message);
        }
    }

    pub(super) fn start_call(&mut self, host: &Value, call: Value) {
        self.start(json!({"id": host, "role": "assistant"}));
        let Some(message) = self.message(host) else { return };
        let calls = message.entry("toolCalls").or_insert_with(|| json!([]));
        if let Some(calls) = calls.as_array_mut() {
            calls.push(call);
        }
    }

    /// Returns the index after the message with a call and the results that follow it.
    fn place_of_result(&self, call_id: &Value) -> usize {
        let has_call = |message: &Value| {
            let calls = at(message, "toolCalls").as_array();
            calls.is_some_and(|calls| calls.iter().any(|call| at(call, "id") == call_id))
        };
        let Some(owner) = self.messages.iter().position(has_call) else { return self.messages.len() };
        let following = self.messages.iter().skip(owner + 1);
        owner + 1 + following.take_while(|message| at(message, "role") == "tool").count()
    }

    /// Removes calls, and returns them with the ids of their messages.
    pub(super) fn take_calls(&mut self, ids: &[&Text]) -> Vec<(Value, Value)> {
        let is_wanted = |call: &Value| ids.iter().any(|id| at(call, "id") == id.as_str());
        let mut taken = Vec::new();
        for message in &mut self.messages {
            let host = at(message, "id").clone();
            let Some(calls) = message.get_mut("toolCalls").and_then(Value::as_array_mut) else { continue };
            taken.extend(calls.extract_if(.., |call| is_wanted(call)).map(|call| (host.clone(), call)));
        }
        taken
    }
}

/// Returns a field, or `null`.
pub(super) fn at<'a>(object: &'a Value, key: &str) -> &'a Value {
    object.get(key).unwrap_or(&Value::Null)
}

fn append(text: Option<&mut Value>, delta: Option<&str>) {
    if let (Some(Value::String(text)), Some(delta)) = (text, delta) {
        text.push_str(delta);
    }
}

/// Adds the metadata of an event, as clients do.
fn merge(target: Option<&mut Map<String, Value>>, frame: &Value) {
    let (Some(target), Some(metadata)) = (target, at(frame, "metadata").as_object()) else { return };
    let into = target.entry("metadata").or_insert_with(|| json!({}));
    if let Some(into) = into.as_object_mut() {
        into.extend(metadata.clone());
    }
}

/// Returns a part of a user's message.
fn content(part: &Part) -> Option<Value> {
    match part {
        Part::Text(part) => Some(json!({"type": "text", "text": part.text})),
        Part::File(part) => Some(file(part)),
        Part::Unknown(part) => Some(part.to_value()),
        _ => None,
    }
}

fn file(part: &FilePart) -> Value {
    let kind = part.media_type.split('/').next().filter(|kind| ["image", "audio", "video"].contains(kind));
    let kind = kind.unwrap_or("document");
    let data = part.url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
    let source = match data {
        Some((_, data)) => json!({"type": "data", "value": data, "mimeType": part.media_type}),
        None => json!({"type": "url", "value": part.url, "mimeType": part.media_type}),
    };
    let mut file = json!({"type": kind, "source": source});
    if let (Some(name), Some(file)) = (&part.filename, file.as_object_mut()) {
        file.insert("metadata".into(), json!({"filename": name}));
    }
    file
}
