//! A model of the client: it applies events to its copy of a conversation, and posts the messages.

use serde_json::{Map, Value, json};

/// The messages of a client. Activities are not stored, because clients never post them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Client {
    pub(crate) messages: Vec<Value>,
    pub(super) state: Value,
}

impl Client {
    pub(crate) fn with(messages: &[Value]) -> Self {
        Self { messages: messages.to_vec(), state: json!({}) }
    }

    pub(crate) fn apply_all(&mut self, events: &[Value]) {
        for event in events {
            self.apply(event);
        }
    }

    fn message(&mut self, id: &Value) -> Option<&mut Value> {
        self.messages.iter_mut().find(|message| message["id"] == *id)
    }

    fn call(&mut self, id: &Value) -> Option<&mut Value> {
        let calls =
            self.messages.iter_mut().filter_map(|message| message.get_mut("toolCalls")?.as_array_mut());
        calls.flatten().find(|call| call["id"] == *id)
    }

    fn apply(&mut self, event: &Value) {
        let id = &event["messageId"];
        match event["type"].as_str().unwrap() {
            "TEXT_MESSAGE_START" => self.begin(id, json!({"id": id, "role": "assistant", "content": ""})),
            "REASONING_MESSAGE_START" => {
                self.begin(id, json!({"id": id, "role": "reasoning", "content": ""}));
            }
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                if let Some(message) = self.message(id) {
                    append(&mut message["content"], &event["delta"]);
                }
            }
            "TOOL_CALL_START" => {
                let parent = &event["parentMessageId"];
                if self.message(parent).is_none() {
                    self.messages.push(json!({"id": parent, "role": "assistant", "toolCalls": []}));
                }
                let call = json!({
                    "id": event["toolCallId"], "type": "function",
                    "function": {"name": event["toolCallName"], "arguments": ""},
                });
                let message = self.message(parent).unwrap().as_object_mut().unwrap();
                message.entry("toolCalls").or_insert_with(|| json!([])).as_array_mut().unwrap().push(call);
            }
            "TOOL_CALL_ARGS" => {
                if let Some(call) = self.call(&event["toolCallId"]) {
                    append(&mut call["function"]["arguments"], &event["delta"]);
                }
            }
            "TOOL_CALL_END" => {
                if let Some(call) = self.call(&event["toolCallId"]) {
                    merge(call, event);
                }
            }
            "TOOL_CALL_RESULT" => {
                let call_id = &event["toolCallId"];
                let mut message =
                    json!({"id": id, "role": "tool", "toolCallId": call_id, "content": event["content"]});
                merge(&mut message, event);
                self.insert_result(call_id, message);
            }
            "REASONING_ENCRYPTED_VALUE" => {
                let entity = match event["subtype"].as_str().unwrap() {
                    "tool-call" => self.call(&event["entityId"]),
                    _ => self.message(&event["entityId"]),
                };
                if let Some(entity) = entity {
                    entity["encryptedValue"] = event["encryptedValue"].clone();
                }
            }
            "MESSAGES_SNAPSHOT" => {
                let snapshot = event["messages"].as_array().unwrap();
                let has =
                    |messages: &[Value], id: &Value| messages.iter().any(|message| message["id"] == *id);
                let has_reasoning = snapshot.iter().any(|message| message["role"] == "reasoning");
                self.messages.retain(|message| {
                    has(snapshot, &message["id"]) || message["role"] == "reasoning" && !has_reasoning
                });
                for message in snapshot {
                    match self.message(&message["id"]) {
                        Some(known) => *known = message.clone(),
                        None => self.messages.push(message.clone()),
                    }
                }
            }
            "STATE_SNAPSHOT" => self.state = event["snapshot"].clone(),
            _ => {}
        }
    }

    fn begin(&mut self, id: &Value, message: Value) {
        if self.message(id).is_none() {
            self.messages.push(message);
        }
    }

    /// Inserts a result after the message with the call and the results that follow it.
    pub(super) fn insert_result(&mut self, call_id: &Value, result: Value) {
        let has_call = |message: &Value| {
            let calls = message["toolCalls"].as_array();
            calls.is_some_and(|calls| calls.iter().any(|call| call["id"] == *call_id))
        };
        let at = match self.messages.iter().position(has_call) {
            Some(owner) => {
                let results =
                    self.messages[owner + 1..].iter().take_while(|message| message["role"] == "tool");
                owner + 1 + results.count()
            }
            None => self.messages.len(),
        };
        self.messages.insert(at, result);
    }
}

fn append(text: &mut Value, delta: &Value) {
    let whole = format!("{}{}", text.as_str().unwrap_or_default(), delta.as_str().unwrap());
    *text = whole.into();
}

fn merge(target: &mut Value, event: &Value) {
    if let Some(metadata) = event["metadata"].as_object() {
        let target = target.as_object_mut().unwrap();
        let into = target.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        into.as_object_mut().unwrap().extend(metadata.clone());
    }
}
