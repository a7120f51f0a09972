//! Tests of the lenient reader of posted messages.

use omniassist_core::event::Source;
use omniassist_core::message::{
    Approval, Decision, FilePart, Message, Part, ReasoningPart, Role, ToolPart, ToolState, read,
};
use omniassist_core::{ErrorCode, JsonText, Limits, Text};
use serde_json::{Value, json};

fn read(messages: &Value) -> omniassist_core::Result<Vec<Message>> {
    read::messages(&Text::from(messages.to_string()), &Limits::default())
}

fn read_one(message: Value) -> Message {
    let mut messages = read(&json!([message])).unwrap();
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

/// Returns a message of the assistant with this part.
fn with_part(part: Value) -> Value {
    json!([{"id": "u", "role": "user", "parts": []}, {"id": "a", "role": "assistant", "parts": [{"type": "step-start"}, part]}])
}

fn read_part(part: Value) -> Part {
    read(&with_part(part)).unwrap().remove(1).parts.remove(1)
}

fn json_text(value: Value) -> JsonText {
    JsonText::from_value(&value)
}

fn tool(state: ToolState) -> Part {
    let (call_id, name) = ("c1".into(), "find".into());
    Part::Tool(ToolPart { call_id, name, dynamic: false, provider_executed: false, state, metadata: None })
}

#[test]
fn plain_and_rich_messages_can_be_mixed() {
    let messages = read(&json!([
        {"id": "m1", "role": "user", "content": "Hello"},
        {"parts": [{"type": "text", "text": "Hi", "state": "done"}], "id": "m2", "role": "assistant", "metadata": {"a": 1}},
        {"id": "m3", "role": "user", "content": [
            {"type": "file", "mediaType": "image/png", "url": "data:,x", "filename": "x.png"},
            {"type": "text", "text": "And \"this\"\u{1F600}"},
        ]},
        {"id": "m4", "role": "system", "content": "", "createdAt": 5, "unknown": {"deep": [1]}},
        {"type": "message", "id": "m5", "role": "assistant", "content": "Sure"},
    ]))
    .unwrap();
    let file = FilePart {
        media_type: "image/png".into(),
        url: "data:,x".into(),
        filename: Some("x.png".into()),
        metadata: None,
    };
    let mut second = Message::assistant("m2", "Hi");
    second.metadata = Some(json!({"a": 1}));
    assert_eq!(
        messages,
        [
            Message::user("m1", "Hello"),
            second,
            Message {
                id: "m3".into(),
                role: Role::User,
                parts: vec![Part::File(file), Part::text("And \"this\"\u{1F600}")],
                metadata: None,
            },
            Message { id: "m4".into(), role: Role::System, parts: vec![Part::text("")], metadata: None },
            Message::assistant("m5", "Sure"),
        ]
    );
}

#[test]
fn every_kind_of_part_is_read() {
    let state = json!({"openai": {"itemId": "x"}});
    assert_eq!(
        read_part(
            json!({"type": "reasoning", "text": "", "state": "done", "id": "r0", "providerMetadata": state})
        ),
        Part::Reasoning(ReasoningPart { text: "".into(), metadata: serde_json::from_value(state).unwrap() })
    );
    let source = |part| match read_part(part) {
        Part::Source(part) => part.source,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        source(json!({"type": "source-url", "sourceId": "s", "url": "https://a.example/"})),
        Source::Url { id: "s".into(), url: "https://a.example/".into(), title: None }
    );
    assert_eq!(
        source(
            json!({"type": "source-document", "sourceId": "s", "mediaType": "a/b", "title": "T", "filename": "f"})
        ),
        Source::Document {
            id: "s".into(),
            media_type: "a/b".into(),
            title: "T".into(),
            filename: Some("f".into())
        }
    );
    assert_eq!(read_part(json!({"type": "step-start"})), Part::StepStart);
    let Part::Data(data) = read_part(json!({"type": "data-flow-status", "data": null})) else { panic!() };
    assert_eq!((data.name.as_str(), data.id, data.data), ("flow-status", None, JsonText::NULL));
    let unknown =
        json!({"type": "reasoning-file", "mediaType": "a/b", "url": "data:,", "n": [1.50, {"x": null}]});
    assert_eq!(read_part(unknown.clone()), Part::Unknown(json_text(unknown)));
    let Part::Tool(dynamic) = read_part(
        json!({"type": "dynamic-tool", "toolName": "any", "toolCallId": "c", "state": "input-available", "input": 1,
            "providerExecuted": true, "callProviderMetadata": {"p": {"k": 1}}}),
    ) else {
        panic!()
    };
    assert!(dynamic.dynamic && dynamic.provider_executed && dynamic.name == "any");
    assert_eq!(serde_json::to_value(dynamic.metadata).unwrap(), json!({"p": {"k": 1}}));
}

#[test]
fn every_state_of_a_tool_call_is_read() {
    let input = || json_text(json!({"q": 1}));
    let cases = [
        (json!({"state": "input-streaming", "input": {"q": 1}, "rawInput": "{"}), ToolState::InputStreaming),
        (
            json!({"state": "input-available", "input": {"q": 1}}),
            ToolState::InputAvailable { input: input() },
        ),
        (
            json!({"state": "approval-requested", "input": {"q": 1}, "approval": {"id": "a"}}),
            ToolState::ApprovalRequested { input: input(), approval: Approval::new("a") },
        ),
        (
            json!({"state": "approval-responded", "input": {"q": 1}, "approval": {"id": "a", "approved": true, "signature": "s"}}),
            ToolState::ApprovalResponded {
                input: input(),
                approval: serde_json::from_value(json!({"id": "a", "approved": true, "signature": "s"}))
                    .unwrap(),
            },
        ),
        (
            json!({"state": "output-available", "input": {"q": 1}, "output": [2], "preliminary": true}),
            ToolState::OutputAvailable { input: input(), output: json_text(json!([2])), preliminary: true },
        ),
        (
            json!({"state": "output-available", "input": {"q": 1}}),
            ToolState::OutputAvailable { input: input(), output: JsonText::NULL, preliminary: false },
        ),
        (
            json!({"state": "output-error", "input": {"q": 1}, "errorText": "no"}),
            ToolState::OutputError { input: Some(input()), error_text: "no".into() },
        ),
        (
            json!({"state": "output-error", "rawInput": "{\"q", "errorText": "no"}),
            ToolState::OutputError { input: Some(json_text(json!("{\"q"))), error_text: "no".into() },
        ),
        (
            json!({"state": "output-error", "errorText": "no"}),
            ToolState::OutputError { input: None, error_text: "no".into() },
        ),
        (
            json!({"state": "output-denied", "input": {"q": 1}, "approval": {"id": "a", "approved": false}}),
            ToolState::OutputDenied {
                input: input(),
                approval: Approval::new("a").decided(Decision::denied(None)),
            },
        ),
        (
            json!({"state": "output-denied", "input": {"q": 1}, "approval": {"id": "a", "reason": "no"}}),
            ToolState::OutputDenied {
                input: input(),
                approval: Approval::new("a").decided(Decision::denied(Some("no".into()))),
            },
        ),
    ];
    for (mut part, expected) in cases {
        part["type"] = "tool-find".into();
        part["toolCallId"] = "c1".into();
        assert_eq!(read_part(part), tool(expected));
    }
}

#[test]
fn a_call_that_a_message_contains_twice_is_read_once() {
    let call = |more: Value| {
        let mut part = json!({"type": "tool-find", "toolCallId": "c1", "input": {"q": 1}});
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    let first = json!({"omniassist": {"seal": "s"}});
    let begun =
        json!({"state": "output-available", "output": 1, "preliminary": true, "callProviderMetadata": first});
    let ended = json!({"state": "output-available", "output": 2, "callProviderMetadata": first});
    let again = json!({"state": "output-available", "output": 2});
    for earlier in [&begun, &ended] {
        let parts = [call(earlier.clone()), call(again.clone()), call(begun.clone())];
        let message = read_one(json!({"id": "a", "role": "assistant", "parts": parts}));
        assert_eq!(message.parts, [read_part(call(ended.clone()))], "{earlier}");
    }
    let other = json!([
        {"id": "a", "role": "assistant", "parts": [call(ended)]},
        {"id": "b", "role": "assistant", "parts": [call(again)]},
    ]);
    assert_eq!(read(&other).unwrap_err().path(), Some("messages[1].parts[0].toolCallId"));
}

#[test]
fn the_state_of_an_invalid_call_is_restored() {
    let state = json!({"openai": {"itemId": "i"}});
    let mut part = json!({"type": "tool-t", "toolCallId": "c", "state": "output-error", "errorText": "no",
        "resultProviderMetadata": state});
    let metadata = |part: &Value| match read_part(part.clone()) {
        Part::Tool(tool) => tool.metadata,
        other => panic!("{other:?}"),
    };
    assert_eq!(metadata(&part), serde_json::from_value(state).unwrap());
    part["state"] = "output-available".into();
    assert_eq!(metadata(&part), None);
}

#[test]
fn tool_input_and_output_are_kept_byte_for_byte() {
    let body = "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"tool-t\", \"toolCallId\": \"c\",\n \
        \"state\": \"output-available\", \"input\": {\"z\": 1.0, \"a\": \"\\u0041\", \"b\": 1e3},\n \
        \"output\": {\n  \"y\": \"a b\\\"\\n\",\r\n  \"x\": [1,\t2.50]\n}}]}]";
    let messages = read::messages(&Text::from(body), &Limits::default()).unwrap();
    let state = &messages[0].tools().next().unwrap().state;
    let ToolState::OutputAvailable { input, output, .. } = state else { panic!() };
    assert_eq!(input.as_str(), r#"{"z": 1.0, "a": "\u0041", "b": 1e3}"#);
    assert_eq!(output.as_str(), r#"{"y":"a b\"\n","x":[1,2.50]}"#);
}

#[test]
fn text_without_escapes_shares_the_body() {
    let body = Text::from(r#"[{"role":"user","content":"plain"},{"role":"user","content":"a\tb"}]"#);
    let messages = read::messages(&body, &Limits::default()).unwrap();
    let inside = |text: &str| body.as_bytes().as_ptr_range().contains(&text.as_ptr());
    let texts: Vec<_> = messages
        .iter()
        .map(|message| match &message.parts[0] {
            Part::Text(part) => (part.text.as_str(), inside(&part.text)),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, [("plain", true), ("a\tb", false)]);
}

#[test]
fn function_calls_and_outputs_become_tool_parts() {
    let messages = read(&json!([
        {"id": "m1", "role": "user", "content": "?"},
        {"type": "function_call", "id": "c1", "name": "find", "arguments": {"q": 1}},
        {"type": "function_call", "id": "c2", "name": "find", "arguments": "{\"q\": 2}"},
        {"type": "function_call_output", "call_id": "c2", "output": {"text": "gone"}, "status": "incomplete"},
        {"type": "function_call_output", "call_id": "c1", "output": [1], "status": "completed"},
        {"type": "function_call", "id": "fc_9", "call_id": "c3", "name": "find"},
        {"id": "m7", "role": "assistant", "content": "So."},
        {"type": "function_call", "id": "c4", "name": "find", "arguments": "{\"cut"},
        {"type": "function_call_output", "call_id": "c4", "output": "cut off", "status": "incomplete"},
        {"id": "m8", "role": "user", "content": "And?"},
    ]))
    .unwrap();
    let ids: Vec<_> = messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["m1", "msg-1", "m7", "m8"]);
    assert_eq!(messages[1].role, Role::Assistant);
    let states: Vec<_> = messages[1]
        .parts
        .iter()
        .map(|part| match part {
            Part::Tool(tool) => Some((tool.call_id.as_str(), tool.state.clone())),
            Part::StepStart => None,
            other => panic!("{other:?}"),
        })
        .collect();
    let input = |json: &str| JsonText::parse(json).unwrap();
    assert_eq!(
        states,
        [
            Some((
                "c1",
                ToolState::OutputAvailable {
                    input: input("{\"q\":1}"),
                    output: input("[1]"),
                    preliminary: false
                }
            )),
            Some((
                "c2",
                ToolState::OutputError {
                    input: Some(input("{\"q\": 2}")),
                    error_text: "{\"text\":\"gone\"}".into()
                }
            )),
            // After an output, a call belongs to the next turn of the model.
            None,
            Some(("c3", ToolState::InputAvailable { input: input("{}") })),
        ]
    );
    assert_eq!(messages[2].text(), "So.");
    let cut = &messages[2].tools().next().unwrap().state;
    let text = ToolState::OutputError { input: Some(input("\"{\\\"cut\"")), error_text: "cut off".into() };
    assert_eq!(*cut, text);
}

#[test]
fn an_output_record_answers_a_front_end_call_of_a_rich_message() {
    let messages = read(&json!([
        {"id": "a", "role": "assistant", "parts": [
            {"type": "tool-find", "toolCallId": "c1", "state": "input-available", "input": {}},
        ]},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ]))
    .unwrap();
    let output = ToolState::OutputAvailable {
        input: JsonText::EMPTY_OBJECT,
        output: json_text(json!("done")),
        preliminary: false,
    };
    assert_eq!(messages[0].parts, [tool(output)]);
}

#[test]
fn missing_ids_are_generated_without_collisions() {
    let messages = read(&json!([
        {"role": "user", "content": "a"},
        {"id": "", "role": "user", "content": "b"},
        {"id": "msg-0", "role": "user", "content": "c"},
        {"id": null, "role": "user", "content": "d"},
    ]))
    .unwrap();
    let ids: Vec<_> = messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["msg-0-0", "msg-1", "msg-0", "msg-3"]);
}

#[test]
fn exact_duplicates_are_ignored() {
    let call = json!({"type": "function_call", "id": "c1", "name": "find", "arguments": {}});
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": 1});
    let user = json!({"id": "m", "role": "user", "content": "a"});
    let part = json!({"type": "tool-t", "toolCallId": "c9", "state": "input-available", "input": {"q": 1}});
    let rich = json!({"id": "r", "role": "assistant", "parts": [part, part]});
    let messages = read(&json!([user, user, call, call, output, output, call, rich, rich])).unwrap();
    let parts: Vec<_> = messages.iter().map(|message| (message.id.as_str(), message.parts.len())).collect();
    assert_eq!(parts, [("m", 1), ("msg-2", 1), ("r", 1)]);
}

#[test]
fn the_finished_version_of_a_call_is_kept() {
    let begun = json!({"type": "tool-t", "toolCallId": "c", "state": "input-streaming"});
    let failed = json!({"type": "dynamic-tool", "toolName": "t", "toolCallId": "c", "state": "output-error", "errorText": "no"});
    for parts in [json!([begun, failed]), json!([failed, begun])] {
        let message = read_one(json!({"id": "m", "role": "assistant", "parts": parts}));
        assert_eq!(message.parts.len(), 1);
        assert!(message.tools().all(|tool| tool.state.is_answered() && tool.dynamic));
    }
}

#[test]
fn errors_report_the_path_and_the_found_value_kind() {
    const STATES: &str = "a state of a tool call (\"input-available\", \"output-available\", ...)";
    const ID: &str = "an id without control characters";
    const OPEN_CALL: &str = "the id of an earlier call without an output";
    let tool = |extra: Value| {
        let mut part = json!({"type": "tool-t", "toolCallId": "c", "state": "input-available", "input": {}});
        part.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        with_part(part)
    };
    let call = json!({"type": "function_call", "id": "c1", "name": "find", "arguments": {}});
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": 1});
    let cases = [
        (json!({}), "messages", "an array of messages", "an object"),
        (json!("x"), "messages", "an array of messages", "a string"),
        (json!(null), "messages", "an array of messages", "null"),
        (json!([5]), "messages[0]", "an object", "a number"),
        (json!([[]]), "messages[0]", "an object", "an array"),
        (json!([{"id": "m", "content": "a"}]), "messages[0].role", "a string", "nothing"),
        (json!([{"id": "m", "content": "a", "role": null}]), "messages[0].role", "a string", "null"),
        (json!([{"type": "item_reference", "id": "x"}]), "messages[0].role", "a string", "nothing"),
        (json!([{"role": "user"}]), "messages[0].parts", "an array of parts", "nothing"),
        (json!([{"role": "user", "parts": true}]), "messages[0].parts", "an array of parts", "a boolean"),
        (json!([{"role": "user", "parts": {}}]), "messages[0].parts", "an array of parts", "an object"),
        (
            json!([{"role": "user", "content": 1.5}]),
            "messages[0].content",
            "a string or an array of parts",
            "a number",
        ),
        (
            json!([{"role": "user", "content": [{"type": "text"}]}]),
            "messages[0].content[0].text",
            "a string",
            "nothing",
        ),
        (json!([{"role": "user", "content": "a", "id": 7}]), "messages[0].id", "a string", "a number"),
        (
            json!([{"role": "user", "content": "a", "id": "a\u{9b}"}]),
            "messages[0].id",
            ID,
            "a string with control characters",
        ),
        (with_part(json!("text")), "messages[1].parts[1]", "an object", "a string"),
        (with_part(json!({"text": "a"})), "messages[1].parts[1].type", "a string", "nothing"),
        (with_part(json!({"type": 1})), "messages[1].parts[1].type", "a string", "a number"),
        (
            with_part(json!({"type": "text", "text": {}})),
            "messages[1].parts[1].text",
            "a string",
            "an object",
        ),
        (
            with_part(json!({"type": "text", "text": "a", "providerMetadata": "x"})),
            "messages[1].parts[1].providerMetadata",
            "an object",
            "a string",
        ),
        (
            with_part(json!({"type": "file", "url": "x"})),
            "messages[1].parts[1].mediaType",
            "a string",
            "nothing",
        ),
        (
            with_part(json!({"type": "file", "mediaType": "x", "url": "x", "filename": 1})),
            "messages[1].parts[1].filename",
            "a string",
            "a number",
        ),
        (
            with_part(json!({"type": "source-document", "sourceId": "x", "mediaType": "x"})),
            "messages[1].parts[1].title",
            "a string",
            "nothing",
        ),
        (
            with_part(
                json!({"type": "dynamic-tool", "toolCallId": "c", "state": "input-available", "input": 1}),
            ),
            "messages[1].parts[1].toolName",
            "a string",
            "nothing",
        ),
        (tool(json!({"toolCallId": 1})), "messages[1].parts[1].toolCallId", "a string", "a number"),
        (
            tool(json!({"toolCallId": "a\nb"})),
            "messages[1].parts[1].toolCallId",
            "an id without control characters",
            "a string with control characters",
        ),
        (tool(json!({"state": "result"})), "messages[1].parts[1].state", STATES, "another string"),
        (tool(json!({"state": null})), "messages[1].parts[1].state", "a string", "null"),
        (
            tool(json!({"providerExecuted": "yes"})),
            "messages[1].parts[1].providerExecuted",
            "a boolean",
            "a string",
        ),
        (tool(json!({"state": "output-error"})), "messages[1].parts[1].errorText", "a string", "nothing"),
        (
            tool(json!({"state": "approval-requested"})),
            "messages[1].parts[1].approval",
            "an object",
            "nothing",
        ),
        (
            tool(json!({"state": "approval-requested", "approval": {}})),
            "messages[1].parts[1].approval.id",
            "a string",
            "nothing",
        ),
        (
            tool(json!({"state": "approval-responded", "approval": {"id": "a", "approved": "yes"}})),
            "messages[1].parts[1].approval.approved",
            "a boolean",
            "a string",
        ),
        (json!([{"type": "function_call", "name": "f"}]), "messages[0].id", "a string", "nothing"),
        (json!([{"type": "function_call", "id": "c"}]), "messages[0].name", "a string", "nothing"),
        (
            json!([{"type": "function_call", "id": "c", "name": "f", "arguments": [1]}]),
            "messages[0].arguments",
            "an object, or a string that holds one",
            "an array",
        ),
        (
            json!([{"type": "function_call_output", "output": 1}]),
            "messages[0].call_id",
            "a string",
            "nothing",
        ),
        (
            json!([call, {"type": "function_call_output", "call_id": "c1"}]),
            "messages[1].output",
            "any JSON",
            "nothing",
        ),
        (
            json!([call, {"type": "function_call_output", "call_id": "c1", "output": 1, "status": 5}]),
            "messages[1].status",
            "a string",
            "a number",
        ),
        (json!([output]), "messages[0].call_id", OPEN_CALL, "an unknown id"),
        (
            json!([call, output, {"type": "function_call_output", "call_id": "c1", "output": 2}]),
            "messages[2].call_id",
            OPEN_CALL,
            "the id of an answered call",
        ),
        (
            json!([call, {"type": "function_call", "id": "c1", "name": "find", "arguments": {"q": 1}}]),
            "messages[1].id",
            "a unique id",
            "the id of another tool call",
        ),
        (
            json!([{"id": "m", "role": "user", "content": "a"}, {"id": "m", "role": "user", "content": "b"}]),
            "messages[1].id",
            "a unique id",
            "the id of another message",
        ),
        (
            json!([
                {"id": "m", "role": "assistant", "content": "a"},
                {"id": "m", "role": "assistant", "content": "b"},
            ]),
            "messages[1].id",
            "a unique id",
            "the id of another message",
        ),
        (
            json!([{"id": "a", "role": "assistant", "parts": [
                {"type": "tool-t", "toolCallId": "c", "state": "input-available", "input": 1},
                {"type": "tool-t", "toolCallId": "c", "state": "input-available", "input": 2},
            ]}]),
            "messages[0].parts[1].toolCallId",
            "a unique id",
            "the id of another tool call",
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
fn a_duplicate_key_is_an_error() {
    let cases = [
        (r#"[{"id":"a","id":"a","role":"user","content":"x"}]"#, "messages[0].id"),
        (r#"[{"role":"user","content":"x","r\u006fle":"system"}]"#, "messages[0].role"),
        (r#"[{"role":"user","parts":[],"parts":[]}]"#, "messages[0].parts"),
        (r#"[{"role":"user","parts":[{"type":"text","text":"a","text":"b"}]}]"#, "messages[0].parts[0].text"),
        (r#"[{"role":"user","content":"x","metadata":{"a":{"b":1,"b":2}}}]"#, "messages[0].metadata.a.b"),
        (r#"[{"x":1,"x":2,"role":"user","content":"x"}]"#, "messages[0].x"),
    ];
    for (body, path) in cases {
        let error = read::messages(&Text::from(body), &Limits::default()).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(path)), "{body}");
    }
}

#[test]
fn invalid_json_and_half_surrogate_pairs_are_rejected() {
    for body in ["", "[", "[]]", "[{]", "[{\"role\":\"user\",\"content\":\"a\u{1}\"}]", "nul"] {
        let error = read::messages(&Text::from(body), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidJson, "{body}");
    }
    let half = Text::from_static(r#"[{"role":"user","content":"\ud800"}]"#);
    let error = read::messages(&half, &Limits::default()).unwrap_err();
    assert_eq!(error.path(), Some("messages[0].content"));
    assert_eq!(error.found(), Some("a string with half a surrogate pair"));
    let nul = Text::from_static(r#"[{"role":"user","content":"\u0000\u202e"}]"#);
    assert_eq!(read::messages(&nul, &Limits::default()).unwrap()[0].text(), "\0\u{202e}");
}

#[test]
fn errors_never_contain_the_value() {
    let secret = "hunter2-secret";
    let bodies = [
        json!([{"role": "user", "content": "x", "id": format!("{secret}\n")}]),
        json!([{"role": "user", "parts": [{"type": "tool-t", "toolCallId": "c", "state": secret}]}]),
        json!([{"role": "user", "content": {"a": secret}}]),
        json!([{"role": "user", "content": "x", "metadata": [secret], "parts": secret}]),
    ];
    for body in bodies {
        let error = read(&body).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
    }
}

#[test]
fn messages_of_unknown_roles_are_dropped() {
    let messages = read(&json!([
        {"id": "m1", "role": "user", "content": "a"},
        {"id": "m2", "role": "narrator", "content": 5},
        {"id": "m3", "role": "developer", "content": "x"},
        {"id": "m4", "role": "user", "content": "b"},
    ]))
    .unwrap();
    let ids: Vec<_> = messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["m1", "m4"]);
}

#[test]
fn ids_of_messages_are_text_without_control_characters() {
    let limits = Limits::default();
    for good in ["a", "ü", "a/b", "../x", "\"'`\\", "a b", "\u{1f600}", &"é".repeat(128)] {
        let json = json!([{"id": good, "role": "user", "content": "x"}]);
        assert_eq!(read(&json).unwrap()[0].id, good);
        read::check_id(good, "id", &limits).unwrap();
    }
    for bad in ["", "\0", "a\r\nb", "\u{7f}", "\u{9b}", &"x".repeat(257)] {
        assert_eq!(read::check_id(bad, "id", &limits).unwrap_err().path(), Some("id"), "{bad:?}");
    }
}

#[test]
fn ids_of_chats_are_safe_in_paths_headers_and_logs() {
    let limits = Limits::default();
    for good in ["a", "msg-1", "3f2b.x_y~z", "a b", "...", "%2e%2e", &"x".repeat(256)] {
        read::check_chat_id(good, "id", &limits).unwrap();
    }
    for bad in [
        "", ".", "..", "../x", "/etc", "C:\\x", "a\0", "a\r\nb", "a\"b", "a'b", "a`b", "\u{2215}", "é",
        "\u{7f}",
    ] {
        let error = read::check_chat_id(bad, "id", &limits).unwrap_err();
        assert_eq!(error.path(), Some("id"), "{bad:?}");
    }
}

#[test]
fn limits_accept_the_maximum_and_reject_one_more() {
    let mut limits = Limits::default();
    (limits.max_conversation_parts, limits.max_parts, limits.max_id_bytes) = (6, 4, 5);
    let read = |body: Value| read::messages(&Text::from(body.to_string()), &limits);
    let user = |index: usize| json!({"id": index.to_string(), "role": "user", "content": "x"});
    let part = |_| json!({"type": "text", "text": "x"});
    let messages = |n: usize| Value::from((0..n).map(user).collect::<Vec<_>>());
    let parts = |n: usize| json!([{"role": "user", "parts": (0..n).map(part).collect::<Vec<_>>()}]);
    let content = |n: usize| json!([{"role": "user", "content": (0..n).map(part).collect::<Vec<_>>()}]);
    let spread = |n: usize| {
        let message =
            |key: &str, n: usize| json!({"role": "user", key: (0..n).map(part).collect::<Vec<_>>()});
        json!([message("content", 3), message("parts", n - 3)])
    };
    let spread_content = |n: usize| {
        let message = |n: usize| json!({"role": "user", "content": (0..n).map(part).collect::<Vec<_>>()});
        json!([message(3), message(n - 3)])
    };
    let id = |n: usize| json!([{"id": "i".repeat(n), "role": "user", "content": "x"}]);
    let call_id = |n: usize| {
        json!([{"role": "assistant", "parts": [
            {"type": "tool-t", "toolCallId": "i".repeat(n), "state": "input-streaming"}]}])
    };
    let record_id =
        |n: usize| json!([{"type": "function_call", "id": "i".repeat(n), "name": "f", "arguments": {}}]);
    type Make<'a> = &'a dyn Fn(usize) -> Value;
    let cases: [(Make<'_>, usize, &str, &str); 8] = [
        (&messages, 6, "max_conversation_parts", "messages"),
        (&spread, 6, "max_conversation_parts", "messages[0]"),
        (&spread_content, 6, "max_conversation_parts", "messages[1]"),
        (&parts, 4, "max_parts", "messages[0].parts"),
        (&content, 4, "max_parts", "messages[0].content"),
        (&id, 5, "max_id_bytes", "messages[0].id"),
        (&call_id, 5, "max_id_bytes", "messages[0].parts[0].toolCallId"),
        (&record_id, 5, "max_id_bytes", "messages[0].id"),
    ];
    for (make, limit, name, path) in cases {
        read(make(limit)).unwrap();
        let error = read(make(limit + 1)).unwrap_err();
        assert_eq!((error.limit(), error.path()), (Some((name, limit)), Some(path)));
        assert!(error.is_limit());
    }
}
