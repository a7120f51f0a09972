//! Tests of the reader for requests of the AI SDK's client and of plain clients.

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::{ClientVersion, read_prompt, read_request};
use omniassist_core::run::Trigger;
use omniassist_core::{ContextMessage, ErrorCode, Limits, Message, RunRequest, ToolSide};
use serde_json::{Map, Value, json};

fn read(body: &Value) -> omniassist_core::Result<RunRequest> {
    read_request(Bytes::from(body.to_string()), &Limits::default())
}

/// Returns a request with one message and these fields.
fn with(fields: Value) -> Value {
    let mut body = json!({"messages": [{"id": "m", "role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

#[test]
fn a_request_of_use_chat_is_read() {
    let request = read(&json!({
        "extra": {"of": "the app"},
        "id": "chat-1",
        "messages": [{"parts": [{"type": "text", "text": "Hi"}], "id": "m1", "role": "user"}],
        "trigger": "regenerate-message",
        "messageId": "m1",
    }))
    .unwrap();
    assert_eq!(request.chat_id.unwrap(), "chat-1");
    assert_eq!(request.messages, [Message::user("m1", "Hi")]);
    assert_eq!(request.trigger, Trigger::Regenerate);
    assert_eq!(request.message_id.unwrap(), "m1");
    assert!(request.context.is_empty() && request.tools.is_empty());
}

#[test]
fn an_earlier_answer_can_be_continued() {
    let post = |message_id: &str, trigger: &str| {
        let message = |id: &str, role: &str| json!({"id": id, "role": role, "content": id});
        let request = read(&json!({
            "messages": [
                message("u1", "user"), message("a1", "assistant"),
                message("u2", "user"), message("a2", "assistant"),
            ],
            "trigger": trigger,
            "messageId": message_id,
        }));
        request.unwrap().messages.last().unwrap().id.to_string()
    };
    assert_eq!(post("a1", "submit-message"), "a1");
    assert_eq!(post("a2", "submit-message"), "a2");
    for (id, trigger) in [("u1", "submit-message"), ("gone", "submit-message"), ("a1", "regenerate-message")]
    {
        assert_eq!(post(id, trigger), "a2", "{id} {trigger}");
    }
}

#[test]
fn a_request_of_a_plain_client_is_read() {
    let request = read(&with(json!({
        "chatId": "c", "trigger": null, "tools": null, "messageId": null,
        "context": [
            {"id": "x1", "type": "navigation", "data": {"to": "/orders"}},
            {"type": "flags"},
        ],
    })))
    .unwrap();
    assert_eq!(request.chat_id.unwrap(), "c");
    assert_eq!((request.trigger, request.message_id), (Trigger::Submit, None));
    assert_eq!(
        request.context,
        [
            ContextMessage::new("x1", "navigation", json!({"to": "/orders"})),
            ContextMessage::new("context-1", "flags", Value::Null),
        ]
    );
    let both = read(&with(json!({"id": "a", "chatId": "b"}))).unwrap();
    assert_eq!(both.chat_id.unwrap(), "a");
}

#[test]
fn declared_tools_are_read_in_every_form() {
    let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
    let forms = [
        json!([{"name": "go", "description": "Go there", "parameters": schema}]),
        json!([{"name": "go", "description": "Go there", "inputSchema": schema, "other": 1}]),
        json!([{"type": "function", "function": {"name": "go", "description": "Go there", "parameters": schema}}]),
        json!({"go": {"description": "Go there", "inputSchema": schema}}),
        json!({"go": {"description": "Go there", "parameters": schema}}),
    ];
    for form in forms {
        let tools = read(&with(json!({"tools": form}))).unwrap().tools;
        assert_eq!(tools.len(), 1, "{form}");
        assert_eq!(
            (tools[0].name.as_str(), tools[0].description.as_str(), tools[0].side),
            ("go", "Go there", ToolSide::FrontEnd)
        );
        assert_eq!(tools[0].input_schema, schema);
    }
    let bare = read(&with(json!({"tools": [{"name": "a"}, {"name": "a"}]}))).unwrap().tools;
    assert_eq!(bare.len(), 1);
    assert_eq!(bare[0].input_schema["type"], "object");
}

#[test]
fn tools_that_providers_reject_are_rejected() {
    let tool = |name: &str| json!({"name": name, "parameters": {"type": "object"}});
    let cases = [
        (json!([tool("a b")]), "tools[0].name"),
        (json!([tool("")]), "tools[0].name"),
        (json!([tool("a"), tool(&"x".repeat(65))]), "tools[1].name"),
        (json!([{"type": "function", "function": {"name": "a.b"}}]), "tools[0].function.name"),
        (json!({"a/b": {}}), "tools[0].name"),
        (json!([{"name": "a", "parameters": {"type": "string"}}]), "tools[0].parameters"),
        (json!([{"name": "a", "inputSchema": {}}]), "tools[0].inputSchema"),
        (json!({"a": {"inputSchema": true}}), "tools.a.inputSchema"),
        (json!([tool("a"), {"name": "a", "description": "another"}]), "tools[1]"),
    ];
    for (tools, path) in cases {
        let error = read(&with(json!({"tools": tools}))).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidTool, Some(path)), "{tools}");
    }
}

#[test]
fn errors_report_the_path_and_the_found_value_kind() {
    const MESSAGES: &str = "an array with at least one message";
    const TRIGGER: &str = "\"submit-message\" or \"regenerate-message\"";
    const ID: &str = "an id of printable ASCII without quotes, '/' and '\\'";
    const MESSAGE_ID: &str = "an id without control characters";
    let cases = [
        (json!([]), "body", "an object", "an array"),
        (json!(null), "body", "an object", "null"),
        (json!({"id": "c"}), "messages", MESSAGES, "nothing"),
        (json!({"messages": []}), "messages", MESSAGES, "an empty array"),
        (json!({"messages": [{"id": "1", "role": "wizard"}]}), "messages", MESSAGES, "only unknown roles"),
        (json!({"messages": null}), "messages", "an array of messages", "null"),
        (
            json!({"messages": [{"role": "user", "parts": [{"type": "text", "text": 5}]}]}),
            "messages[0].parts[0].text",
            "a string",
            "a number",
        ),
        (with(json!({"id": 5})), "id", "a string", "a number"),
        (with(json!({"id": "a/b"})), "id", ID, "a string with invalid characters"),
        (with(json!({"chatId": ".."})), "chatId", ID, "dots only"),
        (with(json!({"messageId": "a\n"})), "messageId", MESSAGE_ID, "a string with control characters"),
        (with(json!({"trigger": "resume-stream"})), "trigger", TRIGGER, "another string"),
        (with(json!({"trigger": 1})), "trigger", "a string", "a number"),
        (with(json!({"context": {}})), "context", "an array of context messages", "an object"),
        (with(json!({"context": [1]})), "context[0]", "an object", "a number"),
        (with(json!({"context": [{"id": "x"}]})), "context[0].type", "a string", "nothing"),
        (
            with(json!({"tools": "x"})),
            "tools",
            "an array of tools, or an object of tools by name",
            "a string",
        ),
        (with(json!({"tools": [1]})), "tools[0]", "an object", "a number"),
        (with(json!({"tools": [{}]})), "tools[0].name", "a string", "nothing"),
        (with(json!({"tools": {"a": []}})), "tools.a", "an object", "an array"),
        (with(json!({"tools": [{"function": 1}]})), "tools[0].function", "an object", "a number"),
        (
            with(json!({"tools": [{"name": "a", "description": {}}]})),
            "tools[0].description",
            "a string",
            "an object",
        ),
    ];
    for (body, path, expected, found) in cases {
        let error = read(&body).expect_err(&format!("{body} is refused"));
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{body}");
        assert_eq!(
            (error.path(), error.expected(), error.found()),
            (Some(path), Some(expected), Some(found)),
            "{body}"
        );
    }
}

#[test]
fn bytes_that_are_not_json_are_rejected() {
    for body in [&b"\xff"[..], b"", b"{", b"{\"messages\": [\xc3]}", b"{} x"] {
        let error = read_request(Bytes::copy_from_slice(body), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidJson, "{body:?}");
    }
}

#[test]
fn a_duplicate_known_key_is_an_error() {
    let message = r#"{"role":"user","content":"x"}"#;
    let cases = [
        (format!(r#"{{"messages":[{message}],"messages":[{message}]}}"#), "messages"),
        (format!(r#"{{"id":"a","messages":[{message}],"id":"b"}}"#), "id"),
        (format!(r#"{{"messages":[{message}],"tools":{{"a":{{}},"a":{{}}}}}}"#), "tools.a"),
        (format!(r#"{{"messages":[{message}],"tools":[{{"name":"a","name":"b"}}]}}"#), "tools[0].name"),
        (
            format!(r#"{{"messages":[{message}],"context":[{{"type":"t","data":{{"k":1,"k":2}}}}]}}"#),
            "context[0].data.k",
        ),
    ];
    for (body, path) in cases {
        let error = read_request(Bytes::from(body.clone()), &Limits::default()).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(path)), "{body}");
    }
}

#[test]
fn limits_accept_the_maximum_and_reject_one_more() {
    let mut limits = Limits::default();
    (limits.max_context_messages, limits.max_declared_tools, limits.max_id_bytes) = (2, 3, 4);
    limits.max_extra_fields = 5;
    let read = |fields: Value| read_request(Bytes::from(with(fields).to_string()), &limits);
    let context = |n| json!({"context": vec![json!({"type": "t"}); n]});
    let tools =
        |n: usize| json!({"tools": (0..n).map(|i| json!({"name": format!("t{i}")})).collect::<Vec<_>>()});
    let by_name =
        |n: usize| json!({"tools": (0..n).map(|i| (format!("t{i}"), json!({}))).collect::<Map<_, _>>()});
    let id = |n: usize| json!({"id": "i".repeat(n)});
    let message_id = |n: usize| json!({"messageId": "i".repeat(n)});
    let extra = |n: usize| Value::Object((0..n).map(|i| (format!("x{i}"), json!(i))).collect());
    type Make<'a> = &'a dyn Fn(usize) -> Value;
    let cases: [(Make<'_>, usize, &str, &str); 6] = [
        (&extra, 5, "max_extra_fields", "body"),
        (&context, 2, "max_context_messages", "context"),
        (&tools, 3, "max_declared_tools", "tools"),
        (&by_name, 3, "max_declared_tools", "tools"),
        (&id, 4, "max_id_bytes", "id"),
        (&message_id, 4, "max_id_bytes", "messageId"),
    ];
    for (make, limit, name, path) in cases {
        read(make(limit)).unwrap();
        let error = read(make(limit + 1)).unwrap_err();
        assert_eq!((error.limit(), error.path()), (Some((name, limit)), Some(path)));
    }
}

#[test]
fn extra_fields_are_kept_byte_for_byte() {
    let body = r#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "narrator", "content": "x"}],
        "sessionId": "s\u00fc", "cart": {"b": 1.0, "a": [1e3]}, "none": null, "id": "chat"}"#;
    let request = read_request(Bytes::from(body), &Limits::default()).unwrap();
    let extra: Vec<_> = request.extra.iter().map(|(key, json)| (key.as_str(), json.as_str())).collect();
    assert_eq!(
        extra,
        [("cart", r#"{"b": 1.0, "a": [1e3]}"#), ("none", "null"), ("sessionId", r#""s\u00fc""#)]
    );
    assert_eq!((request.messages.len(), request.skipped_messages), (1, vec![1]));

    let prompt = read_prompt(Bytes::from(r#"{"prompt": "Hi", "page": 7}"#), &Limits::default()).unwrap();
    assert_eq!(prompt.extra.get("page").map(|json| json.as_str()), Some("7"));
    let twice = read_prompt(Bytes::from(r#"{"prompt": "Hi", "x": {"a": 1, "a": 2}}"#), &Limits::default());
    assert_eq!(twice.unwrap_err().path(), Some("x.a"));
}

#[test]
fn the_names_of_routes_are_no_ids_of_chats() {
    for id in ["stop", "stream"] {
        let body = json!({"id": id, "messages": [{"id": "m", "role": "user", "content": "Hi"}]});
        let error = read_request(Bytes::from(body.to_string()), &Limits::default()).unwrap_err();
        assert_eq!(error.path(), Some("id"), "{id}");
    }
}

#[test]
fn the_number_of_components_is_bounded() {
    let mut limits = Limits::default();
    limits.max_declared_tools = 2;
    let read = |names: &[&str]| {
        let body = json!({"components": names, "messages": [{"id": "m", "role": "user", "content": "Hi"}]});
        read_request(Bytes::from(body.to_string()), &limits)
    };
    let components = read(&["a", "b"]).unwrap().components.unwrap();
    assert_eq!(components, ["a", "b"]);
    assert_eq!(read(&["a", "b", "c"]).unwrap_err().limit().unwrap().0, "max_declared_tools");
}

#[test]
fn a_version_is_read_from_its_number() {
    let version = ClientVersion::from_number;
    assert_eq!(version("5"), Some(ClientVersion::V5));
    assert_eq!(version("6"), Some(ClientVersion::V6));
    assert_eq!(version("7"), Some(ClientVersion::V7));
    assert_eq!(version("4"), None);
}
