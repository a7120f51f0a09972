//! Requests with nearly all fields of a dialect, and functions that change them at every place.

use serde_json::{Map, Value, json};

use super::routes::{self, Reads, Route};

/// Returns requests with nearly all fields to all routes that read a body. Each is accepted.
pub(super) fn full() -> Vec<Route> {
    let route = |path: &'static str, body: Value, reads: Reads| Route {
        method: http::Method::POST,
        path,
        body: Some(body),
        status: 200,
        reads,
    };
    let envelope = |method: &str| {
        let params =
            json!({"agentId": "default", "threadId": "thread-1", "path": "/threads", "httpMethod": "GET"});
        json!({"method": method, "params": params, "body": ag_ui(), "other": {"k": "v"}})
    };
    let context = json!([{"id": "c1", "type": "navigation", "data": {"path": "/x", "title": "X"}}]);
    vec![
        route("/", ai_sdk(), Reads::Own),
        route(
            "/completion",
            json!({"prompt": "Say hi", "context": context, "other": {"k": ["v"]}}),
            Reads::Own,
        ),
        route(
            "/object/invoice",
            json!({"text": "1 chair", "lines": [{"n": 1, "what": "chair"}]}),
            Reads::Own,
        ),
        route("/ag-ui", ag_ui(), Reads::Own),
        route("/v1/chat/completions", openai(), Reads::OpenAi),
        route("/copilotkit/agent/default/run", ag_ui(), Reads::CopilotKit),
        route("/copilotkit/agent/default/connect", ag_ui(), Reads::CopilotKit),
        route("/copilotkit/agent/default/stop/thread-1", json!({"runId": "run-1"}), Reads::CopilotKit),
        route("/copilotkit", envelope("agent/run"), Reads::CopilotKit),
        route("/copilotkit", envelope("info"), Reads::CopilotKit),
        route("/copilotkit", envelope("resource/request"), Reads::CopilotKit),
    ]
}

/// Returns the requests with separate readers. CopilotKit's routes share the reader of AG-UI.
pub(super) fn distinct() -> Vec<Route> {
    full().into_iter().filter(|route| route.runs() || route.path.contains("stop")).collect()
}

fn ai_sdk() -> Value {
    let schema =
        json!({"type": "object", "properties": {"page": {"type": "string", "description": "Which"}}});
    json!({
        "id": "chat-9", "trigger": "submit-message", "messageId": "m9", "other": {"nested": {"k": "v"}},
        "messages": [
            {"id": "m1", "role": "user", "metadata": {"k": {"v": "w"}}, "parts": [
                {"type": "text", "text": "Look at this"},
                {"type": "file", "mediaType": "image/png", "url": "https://img.example/a.png", "filename": "a.png"},
                {"type": "data-note", "id": "d1", "data": {"k": "v"}},
            ]},
            {"id": "m2", "role": "assistant", "metadata": {"usage": {"inputTokens": 1}}, "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "Hm", "providerMetadata": {"openai": {"itemId": "rs_1"}}},
                {"type": "text", "text": "I see", "providerMetadata": {"omniassist": {"k": "v"}}},
                {"type": "tool-show", "toolCallId": "call-1", "state": "output-available", "input": {"page": "a"},
                    "output": {"ok": {"k": "v"}}, "callProviderMetadata": {"openai": {"itemId": "fc_1"}}},
                {"type": "dynamic-tool", "toolName": "other", "toolCallId": "call-2", "state": "output-error",
                    "input": {"a": [1, {"b": 2}]}, "errorText": "No"},
                {"type": "source-url", "sourceId": "s1", "url": "https://src.example", "title": "S"},
                {"type": "source-document", "sourceId": "s2", "mediaType": "text/plain", "title": "T", "filename": "f"},
                {"type": "unheard-of", "k": {"v": "w"}},
            ]},
            {"id": "m3", "role": "system", "parts": [{"type": "text", "text": "Be nice"}]},
            {"id": "m4", "role": "user", "content": "And now?"},
        ],
        "context": [
            {"id": "c1", "type": "navigation", "data": {"path": "/orders", "title": "Orders"}},
            {"id": "c2", "type": "form", "data": {"form": "f", "fields": {"name": "Ada", "card": {"k": "v"}}}},
            {"id": "c3", "type": "anything", "data": [{"k": "v"}]},
        ],
        "tools": [{"name": "show", "description": "Shows a page", "inputSchema": schema}],
    })
}

fn ag_ui() -> Value {
    let schema = json!({"type": "object", "properties": {"page": {"type": "string"}}});
    json!({
        "threadId": "thread-1", "runId": "run-1", "parentRunId": "run-0", "protocolVersion": "1.0.0",
        "messages": [
            {"id": "u1", "role": "user", "name": "Ada", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image", "source": {"type": "url", "value": "https://img.example/a.png", "mimeType": "image/png"},
                    "metadata": {"filename": "a.png"}},
                {"type": "document", "source": {"type": "data", "value": "aGk=", "mimeType": "text/plain"}},
                {"type": "binary", "mimeType": "image/png", "url": "https://img.example/b.png", "filename": "b.png"},
                {"type": "unheard-of", "k": {"v": "w"}},
            ]},
            {"id": "a1", "role": "assistant", "content": "I see", "metadata": {"k": {"v": "w"}}, "toolCalls": [
                {"id": "call-1", "type": "function", "function": {"name": "show", "arguments": "{\"page\":\"a\"}"}},
            ]},
            {"id": "t1", "role": "tool", "toolCallId": "call-1", "content": "shown"},
            {"id": "r1", "role": "reasoning", "content": "Hm", "encryptedValue": "{\"openai\":{\"itemId\":\"rs_1\"}}"},
            {"id": "x1", "role": "activity", "activityType": "PLAN", "content": {"steps": [{"k": "v"}]}},
            {"id": "d1", "role": "developer", "content": "Be nice"},
            {"id": "u2", "role": "user", "content": "And now?"},
        ],
        "tools": [{"name": "show", "description": "Shows a page", "parameters": schema}],
        "context": [{"description": "cart", "value": "{\"items\":[{\"k\":\"v\"}]}"}],
        "state": {"cart": {"items": [{"name": "tea", "n": 1}]}},
        "forwardedProps": {"model": "gpt-evil", "baseURL": "https://evil.example", "headers": {"authorization": "x"}},
    })
}

fn openai() -> Value {
    let schema = json!({"type": "object", "properties": {"page": {"type": "string"}}});
    let function = json!({"name": "show", "description": "Shows a page", "parameters": schema});
    json!({
        "model": "omniassist", "user": "ada", "metadata": {"k": "v"}, "stop": ["x"], "service_tier": "auto",
        "temperature": 0.5, "max_tokens": 100, "tool_choice": "auto", "base_url": "https://evil.example",
        "extra_headers": {"authorization": "x"}, "stream_options": {"include_usage": true}, "stream": true,
        "messages": [
            {"role": "system", "content": "Be nice", "name": "boss"},
            {"role": "user", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "https://img.example/a.png", "detail": "low"}},
                {"type": "file", "file": {"file_data": "data:text/plain;base64,aGk=", "filename": "a.txt"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call-1", "type": "function", "function": {"name": "show", "arguments": "{\"page\":\"a\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "call-1", "content": "shown"},
            {"role": "user", "content": "And now?", "name": "ada"},
        ],
        "tools": [{"type": "function", "function": function}],
        "response_format": {"type": "text"},
    })
}

/// A place in a JSON value: keys and indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Returns every place in a value, beginning with the value itself.
pub(super) fn places(value: &Value) -> Vec<Vec<Step>> {
    let mut found = vec![Vec::new()];
    let inner: Vec<(Step, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(n, item)| (Step::Index(n), item)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (Step::Key(key.clone()), item)).collect(),
        _ => Vec::new(),
    };
    for (step, item) in inner {
        for mut place in places(item) {
            place.insert(0, step.clone());
            found.push(place);
        }
    }
    found
}

pub(super) fn at<'a>(value: &'a mut Value, place: &[Step]) -> &'a mut Value {
    place.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key],
        Step::Index(index) => &mut value[*index],
    })
}

/// Returns a place in the form of an error's path.
pub(super) fn written(place: &[Step]) -> String {
    let mut path = String::new();
    for step in place {
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.push_str(&format!(".{key}")),
        }
    }
    path
}

/// Returns the value as JSON with an additional entry in the object at this place.
pub(super) fn with_entry(value: &Value, place: &[Step], key: &str, entry: &Value) -> String {
    const MARK: &str = "\u{1}mark";
    let mut value = value.clone();
    let object: &mut Map<String, Value> = at(&mut value, place).as_object_mut().unwrap();
    object.insert(MARK.to_owned(), Value::Null);
    let mark = format!("{}:null", Value::from(MARK));
    value.to_string().replace(&mark, &format!("{key}:{entry}"))
}

#[tokio::test]
async fn the_full_requests_are_accepted() {
    let service = super::serve(super::builder().1.allow_anonymous());
    for route in full().into_iter().chain(routes::all()) {
        let answer = super::answer(&service, route.request()).await;
        assert_eq!(answer.status, route.status, "{}: {}", route.name(), answer.body);
    }
}
