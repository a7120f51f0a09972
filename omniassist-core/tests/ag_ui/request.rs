//! Tests of the fields of a request other than its messages.

use bytes::Bytes;
use omniassist_core::dialect::ag_ui::{Version, read_request};
use omniassist_core::{ContextMessage, ErrorCode, Limits, Message, ToolSide};
use serde_json::{Value, json};

use super::{read, with};

#[test]
fn a_request_of_a_1_0_client_is_read() {
    let posted = read(&json!({
        "threadId": "thread-1", "runId": "run-1", "protocolVersion": "1.0", "parentRunId": "run-0",
        "state": {"count": 1},
        "messages": [{"id": "u1", "role": "user", "content": "Hi"}],
        "tools": [], "context": [], "forwardedProps": {"tenant": "a"}, "extra": [{}],
    }))
    .unwrap();
    assert_eq!((posted.thread_id.as_str(), posted.run_id.as_str()), ("thread-1", "run-1"));
    assert_eq!(posted.parent_run_id.as_deref(), Some("run-0"));
    assert_eq!(posted.version, Version::V1);
    let request = posted.request;
    assert_eq!(request.chat_id.as_deref(), Some("thread-1"));
    assert_eq!(request.messages, [Message::user("u1", "Hi")]);
    assert_eq!(request.state.unwrap().as_str(), r#"{"count": 1}"#.replace(' ', ""));
    assert_eq!(request.forwarded.unwrap().as_str(), r#"{"tenant":"a"}"#);
}

#[test]
fn all_other_fields_are_optional() {
    let posted = read(&json!({"threadId": "t", "runId": "r", "messages": []})).unwrap();
    assert_eq!(posted.version, Version::V0);
    let request = posted.request;
    assert!(request.messages.is_empty() && request.context.is_empty() && request.tools.is_empty());
    assert_eq!((request.state, request.forwarded), (None, None));
    let nulls = with(json!({"state": null, "tools": null, "context": null, "forwardedProps": null,
        "resume": null, "parentRunId": null, "protocolVersion": null}));
    assert_eq!(read(&nulls).unwrap().request.state, None);
}

#[test]
fn the_major_version_selects_the_protocol() {
    let versions = [
        ("1.0", Version::V1),
        ("1.7", Version::V1),
        ("2.0", Version::V1),
        ("0.0.59", Version::V0),
        ("x", Version::V0),
    ];
    for (text, version) in versions {
        assert_eq!(read(&with(json!({"protocolVersion": text}))).unwrap().version, version, "{text}");
    }
}

#[test]
fn the_three_required_fields_are_checked() {
    let whole = with(json!({}));
    for key in ["threadId", "runId", "messages"] {
        let mut body = whole.clone();
        body.as_object_mut().unwrap().remove(key);
        let error = read(&body).unwrap_err();
        assert_eq!((error.path(), error.found()), (Some(key), Some("nothing")));
        for wrong in [json!(null), json!(5), json!({})] {
            let error = read(&with(json!({ key: wrong }))).unwrap_err();
            assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(key)), "{wrong}");
        }
    }
    for key in ["threadId", "runId", "parentRunId"] {
        for wrong in ["", "a/b", "a\nb", ".."] {
            assert_eq!(read(&with(json!({ key: wrong }))).unwrap_err().path(), Some(key), "{wrong:?}");
        }
        let limit = Limits::default().max_id_bytes;
        assert!(read(&with(json!({ key: "a".repeat(limit) }))).is_ok());
        let error = read(&with(json!({ key: "a".repeat(limit + 1) }))).unwrap_err();
        assert_eq!((error.limit(), error.path()), (Some(("max_id_bytes", limit)), Some(key)));
    }
}

#[test]
fn fields_of_the_wrong_type_are_named_in_the_error() {
    let wrong = [
        ("protocolVersion", json!(1.0), "protocolVersion"),
        ("tools", json!({}), "tools"),
        ("tools", json!([5]), "tools[0]"),
        ("tools", json!([{"name": 5}]), "tools[0].name"),
        ("tools", json!([{"name": "a b"}]), "tools[0].name"),
        ("tools", json!([{"name": "a", "description": 1}]), "tools[0].description"),
        ("tools", json!([{"name": "a", "parameters": []}]), "tools[0].parameters"),
        ("tools", json!([{"name": "a", "parameters": {"type": "array"}}]), "tools[0].parameters"),
        ("tools", json!([{"name": "a"}, {"name": "a", "description": "b"}]), "tools[1]"),
        ("context", json!({}), "context"),
        ("context", json!(["a"]), "context[0]"),
        ("context", json!([{"description": "a"}]), "context[0].value"),
        ("context", json!([{"description": 5, "value": "a"}]), "context[0].description"),
        ("resume", json!({}), "resume"),
        ("messages", json!([5]), "messages[0]"),
    ];
    for (key, value, path) in wrong {
        let error = read(&with(json!({ key: value }))).unwrap_err();
        assert_eq!(error.path(), Some(path), "{key}: {value}");
    }
}

#[test]
fn a_duplicate_known_key_is_an_error() {
    let bodies = [
        (r#"{"threadId":"t","threadId":"t","runId":"r","messages":[]}"#, "threadId"),
        (r#"{"threadId":"t","runId":"r","messages":[],"messages":[]}"#, "messages"),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","role":"user","content":""}]}"#,
            "messages[0].role",
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"context":[{"value":"a","value":"b"}]}"#,
            "context[0].value",
        ),
    ];
    for (body, path) in bodies {
        let error = read_request(Bytes::from_static(body.as_bytes()), &Limits::default()).unwrap_err();
        assert_eq!((error.path(), error.found()), (Some(path), Some("a duplicate key")), "{body}");
    }
    let unknown = br#"{"threadId":"t","runId":"r","messages":[],"x":1,"x":2}"#;
    assert!(read_request(Bytes::from_static(unknown), &Limits::default()).is_err());
}

#[test]
fn invalid_json_is_rejected() {
    for body in [&b"{"[..], b"\xff", b""] {
        let error = read_request(Bytes::copy_from_slice(body), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidJson);
    }
    let error = read_request(Bytes::from_static(b"[]"), &Limits::default()).unwrap_err();
    assert_eq!((error.path(), error.found()), (Some("body"), Some("an array")));
}

#[test]
fn context_is_parsed_as_json_if_possible() {
    let deep = "[".repeat(80) + &"]".repeat(80);
    let posted = read(&with(json!({"context": [
        {"description": "current_route", "value": "/orders/42"},
        {"description": "cart", "value": "{\"items\":[1,2]}", "extra": 1},
        {"description": " ", "value": "5"},
        {"value": {"plain": true}},
        {"description": "twice", "value": "{\"a\":1,\"a\":2}"},
        {"description": "deep", "value": deep},
    ]})))
    .unwrap();
    assert_eq!(
        posted.request.context,
        [
            ContextMessage::new("context-0", "current_route", "/orders/42".into()),
            ContextMessage::new("context-1", "cart", json!({"items": [1, 2]})),
            ContextMessage::new("context-2", "context", 5.into()),
            ContextMessage::new("context-3", "context", json!({"plain": true})),
            ContextMessage::new("context-4", "twice", r#"{"a":1,"a":2}"#.into()),
            ContextMessage::new("context-5", "deep", deep.into()),
        ]
    );
}

#[test]
fn missing_schemas_of_tools_are_completed() {
    let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    let posted = read(&with(json!({"tools": [
        {"name": "go", "description": "Go there", "parameters": schema, "metadata": {"a": 1}},
        {"name": "bare", "description": ""},
        {"name": "empty", "description": "", "parameters": {}},
        {"name": "null", "parameters": null},
        {"name": "open", "description": "", "parameters": {"type": "object", "additionalProperties": true}},
        {"name": "bare", "description": ""},
    ]})))
    .unwrap();
    let tools = posted.request.tools;
    assert!(tools.iter().all(|tool| tool.side == ToolSide::FrontEnd));
    let empty = json!({"type": "object", "properties": {}});
    let schemas: Vec<(&str, &Value)> =
        tools.iter().map(|tool| (tool.name.as_str(), &tool.input_schema)).collect();
    let open = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let expected = [("go", &schema), ("bare", &empty), ("empty", &empty), ("null", &empty), ("open", &open)];
    assert_eq!(schemas, expected);
    assert_eq!(tools[0].description, "Go there");
}

#[test]
fn limits_accept_the_maximum_and_reject_one_more() {
    let mut limits = Limits::default();
    (limits.max_conversation_parts, limits.max_context_messages, limits.max_declared_tools) = (5, 2, 2);
    limits.max_parts = 3;
    let spread = |n: usize| {
        let message =
            |n: usize| json!({"role": "user", "content": vec![json!({"type": "text", "text": "a"}); n]});
        json!({"messages": [message(3), message(n - 3)]})
    };
    let messages = |n: usize| json!({"messages": vec![json!({"role": "user", "content": "a"}); n]});
    let context = |n: usize| json!({"context": vec![json!({"value": "a"}); n]});
    let tools =
        |n: usize| json!({"tools": (0..n).map(|i| json!({"name": format!("t{i}")})).collect::<Vec<_>>()});
    let content = |n: usize| {
        let parts = vec![json!({"type": "text", "text": "a"}); n];
        json!({"messages": [{"role": "user", "content": parts}]})
    };
    // The start of a step counts as a part.
    let calls = |n: usize| {
        let call = |i| json!({"id": format!("c{i}"), "type": "function", "function": {"name": "a"}});
        json!({"messages": [{"role": "assistant", "toolCalls": (0..n).map(call).collect::<Vec<_>>()}]})
    };
    let cases = [
        (messages(5), messages(6), "max_conversation_parts", "messages"),
        (spread(5), spread(6), "max_conversation_parts", "messages[1].content[2]"),
        (context(2), context(3), "max_context_messages", "context"),
        (tools(2), tools(3), "max_declared_tools", "tools"),
        (content(3), content(4), "max_parts", "messages[0].content"),
        (calls(2), calls(3), "max_parts", "messages[0].toolCalls[2]"),
        (calls(2), calls(4), "max_parts", "messages[0].toolCalls"),
    ];
    for (fits, passes, name, path) in cases {
        let read = |fields| read_request(Bytes::from(with(fields).to_string()), &limits);
        read(fits).unwrap();
        let error = read(passes).unwrap_err();
        assert_eq!((error.limit().unwrap().0, error.path()), (name, Some(path)));
    }
}

#[test]
fn text_shares_the_body() {
    let body = Bytes::from(with(json!({})).to_string());
    let range = body.as_ptr_range();
    let posted = read_request(body.clone(), &Limits::default()).unwrap();
    let omniassist_core::message::Part::Text(part) = &posted.request.messages[0].parts[0] else { panic!() };
    assert!(range.contains(&part.text.as_ptr()) && range.contains(&posted.thread_id.as_ptr()));
}
