//! Tests of posted conversations.

use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::message::{Approval, Decision, FilePart, Message, Part, Role, ToolState};
use omniassist_core::transcript::from_messages;
use omniassist_core::{Error, ErrorCode, JsonText, TranscriptItem};
use serde_json::{Value, json};

use super::{read, with_messages};

fn messages(posted: &[Value]) -> Vec<Message> {
    read(&with_messages(posted)).unwrap().request.messages
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn tool(id: &str, call_id: &str, content: &str) -> Value {
    json!({"id": id, "role": "tool", "toolCallId": call_id, "content": content})
}

/// Returns the kinds of parts, in order.
fn shape(message: &Message) -> Vec<&'static str> {
    let kind = |part: &Part| match part {
        Part::StepStart => "step",
        Part::Text(_) => "text",
        Part::Reasoning(_) => "reasoning",
        Part::Tool(_) => "tool",
        Part::File(_) => "file",
        _ => "other",
    };
    message.parts.iter().map(kind).collect()
}

#[test]
fn the_messages_of_one_answer_become_one_message() {
    let read = messages(&[
        json!({"id": "u1", "role": "user", "content": "Where?"}),
        json!({"id": "msg_1.1.1", "role": "reasoning", "content": "Look it up."}),
        json!({"id": "msg_1", "role": "assistant", "content": "Looking.", "toolCalls": [call("c1", "look_up", "{\"n\":1}")]}),
        tool("msg_1.1.2", "c1", "{\"status\":\"shipped\"}"),
        json!({"id": "msg_1.1.3", "role": "assistant", "content": "And"}),
        json!({"id": "msg_1.2.4", "role": "assistant", "content": "Shipped."}),
        json!({"id": "u2", "role": "user", "content": "Thanks"}),
        json!({"id": "msg_2", "role": "assistant", "content": "Welcome."}),
    ]);
    let ids: Vec<_> = read.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["u1", "msg_1", "u2", "msg_2"]);
    assert_eq!(shape(&read[1]), ["step", "reasoning", "text", "tool", "text", "step", "text"]);
    let ToolState::OutputAvailable { input, output, .. } = &read[1].tools().next().unwrap().state else {
        panic!()
    };
    assert_eq!((input.as_str(), output.as_str()), ("{\"n\":1}", "{\"status\":\"shipped\"}"));
    assert_eq!(shape(&read[3]), ["step", "text"]);
}

#[test]
fn errors_are_located_in_the_posted_messages() {
    let posted = read(&with_messages(&[
        json!({"id": "u1", "role": "user", "content": "Where?"}),
        json!({"id": "msg_1.1.1", "role": "reasoning", "content": "Look it up."}),
        json!({"id": "x", "role": "activity", "activityType": "a", "content": {}}),
        json!({"id": "msg_1", "role": "assistant", "content": "Looking.", "toolCalls": [call("c1", "look_up", "{}")]}),
        json!({"id": "u2", "role": "user", "content": "And?"}),
        json!({"id": "msg_2", "role": "assistant", "content": "Well."}),
    ]))
    .unwrap();
    let located = |path: &str| posted.locate(Error::seal_invalid(path)).path().unwrap().to_owned();
    let paths = [
        ("messages[0].parts[0]", "messages[0]"),
        ("messages[1].parts[1]", "messages[1]"),
        ("messages[1].parts[2]", "messages[3]"),
        ("messages[1].parts[3]", "messages[3]"),
        ("messages[3].parts[1]", "messages[5]"),
        ("messages[9].parts[0]", "messages[9].parts[0]"),
    ];
    for (path, expected) in paths {
        assert_eq!(located(path), expected);
    }
    let other = posted.locate(Error::invalid_field("messages[1].parts[1]", "a", "b"));
    assert_eq!(other.path(), Some("messages[1].parts[1]"));
}

#[test]
fn answers_of_other_servers_are_split_into_steps() {
    let read = messages(&[
        json!({"id": "a", "role": "assistant", "content": "One", "toolCalls": [call("c1", "x", "{}"), call("c2", "x", "{}")]}),
        tool("t1", "c1", "1"),
        tool("t2", "c2", "2"),
        json!({"id": "r", "role": "reasoning", "content": "Hm"}),
        json!({"id": "b", "role": "assistant", "content": "Two"}),
        json!({"id": "c", "role": "assistant", "content": "Three"}),
    ]);
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].id, "a");
    assert_eq!(
        shape(&read[0]),
        ["step", "text", "tool", "tool", "step", "reasoning", "text", "step", "text"]
    );
    let items = from_messages(&read);
    let calls_first = matches!(
        &items[..5],
        [
            TranscriptItem::Text { .. },
            TranscriptItem::Call(_),
            TranscriptItem::Call(_),
            TranscriptItem::Result(_),
            TranscriptItem::Result(_)
        ]
    );
    assert!(calls_first, "{items:?}");
}

#[test]
fn results_at_the_end_belong_to_the_last_answer() {
    let conversation = [
        json!({"id": "u1", "role": "user", "content": "Open the page"}),
        json!({"id": "msg_1", "role": "assistant", "toolCalls": [call("c1", "navigate", "")]}),
        tool("uuid", "c1", "done"),
    ];
    let read = messages(&conversation);
    assert_eq!((read.len(), read[1].id.as_str(), read[1].role), (2, "msg_1", Role::Assistant));
    let ToolState::OutputAvailable { input, output, .. } = &read[1].tools().next().unwrap().state else {
        panic!()
    };
    assert_eq!((input, output), (&JsonText::EMPTY_OBJECT, &JsonText::from_str_value("done")));
}

#[test]
fn messages_with_foreign_ids_in_our_format_are_not_merged() {
    let read = messages(&[
        json!({"id": "a.1.1", "role": "assistant", "content": "One"}),
        json!({"id": "a.1.9", "role": "user", "content": "x"}),
        json!({"id": "a.1.2", "role": "assistant", "content": "Two"}),
        json!({"id": "b", "role": "user", "content": "x"}),
        json!({"id": "b.1.3", "role": "reasoning", "content": "Three"}),
        json!({"id": "u", "role": "user", "content": "x"}),
        json!({"id": "c.1.1", "role": "reasoning", "content": "Four"}),
        json!({"id": "c", "role": "assistant", "content": "Five"}),
    ]);
    let ids: Vec<_> = read.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["a", "a.1.9", "a.1.2", "b", "b.1.3", "u", "c"]);
}

#[test]
fn messages_without_ids_receive_generated_ids() {
    let read = messages(&[
        json!({"role": "user", "content": "a"}),
        json!({"role": "assistant", "content": "b"}),
        json!({"id": "", "role": "user", "content": "c"}),
        json!({"id": "msg-0", "role": "user", "content": "d"}),
    ]);
    let ids: Vec<_> = read.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids.last(), Some(&"msg-0"));
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 4, "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with("msg-")));
}

#[test]
fn two_messages_with_one_id_are_an_error() {
    let user = json!({"id": "u1", "role": "user", "content": "Hi"});
    assert_eq!(messages(&[user.clone(), user.clone()]).len(), 1);
    let other = json!({"id": "u1", "role": "user", "content": "Ho"});
    let error = read(&with_messages(&[user, other])).unwrap_err();
    assert_eq!((error.path(), error.found()), (Some("messages[1].id"), Some("the id of another message")));
}

#[test]
fn notes_are_read_and_activities_are_dropped() {
    let read = messages(&[
        json!({"id": "s", "role": "system", "content": "Be brief", "name": "x"}),
        json!({"id": "d", "role": "developer", "content": "Be kind"}),
        json!({"id": "x", "role": "activity", "activityType": "plan", "content": {"a": 1}}),
        json!({"id": "u", "role": "user", "content": "Hi", "metadata": {"k": 1}}),
    ]);
    let roles: Vec<_> = read.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::System, Role::User]);
    assert_eq!(read[2].metadata, Some(json!({"k": 1})));
}

#[test]
fn messages_of_sub_agents_are_dropped() {
    let sub = |mut message: Value| {
        message["subagentRunId"] = json!("sub_1");
        message
    };
    let answer = json!({"id": "msg_1", "role": "assistant", "content": "Final.", "subagentRunId": null});
    let read = messages(&[
        json!({"id": "u1", "role": "user", "content": "Compare them."}),
        sub(json!({"id": "s1", "role": "reasoning", "content": "The first one."})),
        sub(
            json!({"id": "s2", "role": "assistant", "content": "Notes.", "toolCalls": [call("c9", "look_up", "{}")]}),
        ),
        sub(tool("s3", "c9", "found")),
        answer,
    ]);
    let ids: Vec<_> = read.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["u1", "msg_1"]);
    assert_eq!(shape(&read[1]), ["step", "text"]);
    assert_eq!(read[1].text(), "Final.");
}

#[test]
fn files_are_read_in_every_form() {
    let file = |media_type: &str, url: &str, filename: Option<&str>| {
        let (media_type, url, filename) = (media_type.into(), url.into(), filename.map(Into::into));
        Part::File(FilePart { media_type, url, filename, metadata: None })
    };
    let forms = [
        (json!({"type": "text", "text": "a", "id": "p"}), Part::text("a")),
        (
            json!({"type": "image", "source": {"type": "data", "value": "QUJD", "mimeType": "image/png"}, "metadata": {"filename": "a.png"}}),
            file("image/png", "data:image/png;base64,QUJD", Some("a.png")),
        ),
        (
            json!({"type": "image", "source": {"type": "url", "value": "https://a.example/b"}}),
            file("image/*", "https://a.example/b", None),
        ),
        (
            json!({"type": "audio", "source": {"type": "url", "value": "https://a.example/b", "mimeType": "audio/mpeg"}, "metadata": "x"}),
            file("audio/mpeg", "https://a.example/b", None),
        ),
        (
            json!({"type": "document", "source": {"type": "data", "value": "QQ==", "mimeType": "application/pdf"}}),
            file("application/pdf", "data:application/pdf;base64,QQ==", None),
        ),
        (
            json!({"type": "video", "source": {"type": "url", "value": "https://a.example/b", "mimeType": null}}),
            file("video/*", "https://a.example/b", None),
        ),
        (
            json!({"type": "binary", "mimeType": "image/png", "data": "QUJD", "filename": "a.png"}),
            file("image/png", "data:image/png;base64,QUJD", Some("a.png")),
        ),
        (
            json!({"type": "binary", "mimeType": "image/png", "url": "https://a.example/b"}),
            file("image/png", "https://a.example/b", None),
        ),
    ];
    for (posted, part) in forms {
        let read = messages(&[json!({"id": "u", "role": "user", "content": [posted]})]);
        assert_eq!(read[0].parts, [part], "{posted}");
    }
    // These are a file stored at a provider, and files of unknown kinds.
    for posted in [
        json!({"type": "image", "source": {"type": "file", "value": "file-1", "provider": "openai"}}),
        json!({"type": "binary", "mimeType": "image/png", "id": "file-1"}),
        json!({"type": "hologram", "of": "the future"}),
    ] {
        let text = json!({"type": "text", "text": "a"});
        let read = messages(&[json!({"id": "u", "role": "user", "content": [posted, text]})]);
        assert_eq!(read[0].parts[..1], [Part::Unknown(JsonText::from_value(&posted))]);
    }
}

#[test]
fn provider_state_and_seals_return_to_their_parts() {
    let state = r#"{"openai":{"itemId":"x"},"omniassist":{"seal":"s"}}"#;
    let read = messages(&[
        json!({"id": "m.1.1", "role": "reasoning", "content": "", "encryptedValue": state}),
        json!({"id": "m", "role": "assistant", "content": "Hi", "encryptedValue": state, "toolCalls": [
            {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}, "encryptedValue": state,
             "metadata": {"omniassist": {"providerExecuted": true}, "other": 1}},
            call("c2", "b", "{}"),
        ]}),
        json!({"id": "m.1.2", "role": "tool", "toolCallId": "c2", "content": "out", "encryptedValue": "{\"omniassist\":{\"seal\":\"v1.x\"}}"}),
    ]);
    let map = serde_json::from_str(state).unwrap();
    let [
        Part::StepStart,
        Part::Reasoning(reasoning),
        Part::Text(text),
        Part::Tool(first),
        Part::Tool(second),
    ] = &read[0].parts[..]
    else {
        panic!("{:?}", read[0])
    };
    assert_eq!([&reasoning.metadata, &text.metadata, &first.metadata], [&Some(map); 3]);
    assert!(first.provider_executed && !second.provider_executed);
    assert_eq!(second.metadata, None);
    assert_eq!(read[0].metadata, Some(json!({"omniassist": {"seals": {"c2": "v1.x"}}})));
}

#[test]
fn state_of_another_server_is_ignored() {
    for value in ["gAAAAAB", "{}", "[1]", "{\"a\":1}", "{\"a\":{}", "5"] {
        let read = messages(&[
            json!({"id": "r", "role": "reasoning", "content": "Hm", "encryptedValue": value}),
            json!({"id": "a", "role": "assistant", "content": "Hi", "encryptedValue": value}),
        ]);
        let [Part::StepStart, Part::Reasoning(reasoning), Part::Text(text)] = &read[0].parts[..] else {
            panic!()
        };
        assert_eq!((&reasoning.metadata, &text.metadata), (&None, &None), "{value}");
    }
}

#[test]
fn the_result_of_a_call_is_read() {
    let answered = |results: &[Value]| {
        let mut posted =
            vec![json!({"id": "m", "role": "assistant", "toolCalls": [call("c1", "a", "{\"n\":1}")]})];
        posted.extend(results.to_vec());
        messages(&posted)[0].tools().next().unwrap().state.clone()
    };
    let input = JsonText::parse("{\"n\":1}").unwrap();
    let output = |json: &str| ToolState::OutputAvailable {
        input: input.clone(),
        output: JsonText::parse(json.to_owned()).unwrap(),
        preliminary: false,
    };
    let error = |text: &str| ToolState::OutputError { input: Some(input.clone()), error_text: text.into() };
    let waits = ToolState::InputAvailable { input: input.clone() };
    let ours = |result: &str, content: &str| {
        let metadata = json!({"omniassist": {"result": result}});
        json!({"id": "m.1.1", "role": "tool", "toolCallId": "c1", "content": content, "metadata": metadata})
    };
    let cases = [
        (vec![], waits.clone()),
        (vec![tool("t", "c1", "[1, 2]")], output("[1, 2]")),
        (vec![tool("t", "c1", "done")], output("\"done\"")),
        (vec![tool("t", "c1", "")], output("\"\"")),
        (
            vec![json!({"role": "tool", "toolCallId": "c1", "content": "x", "error": "no network"})],
            error("no network"),
        ),
        (
            vec![
                json!({"role": "tool", "toolCallId": "c1", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            ],
            output("\"ab\""),
        ),
        (
            vec![
                json!({"role": "tool", "toolCallId": "c1", "content": [{"type": "image", "source": {"type": "url", "value": "https://a.example"}}]}),
            ],
            output(r#"[{"source":{"type":"url","value":"https://a.example"},"type":"image"}]"#),
        ),
        (vec![ours("output", "5")], output("5")),
        (vec![ours("error", "It broke.")], error("It broke.")),
        (vec![ours("interrupted", "x")], waits.clone()),
        (vec![ours("cut", "x")], ToolState::InputStreaming),
        (
            vec![ours("denied", "too expensive")],
            ToolState::OutputDenied {
                input: input.clone(),
                approval: Approval::new("approval-c1")
                    .decided(Decision::denied(Some("too expensive".into()))),
            },
        ),
        // CopilotKit's runtime writes this result before the client's.
        (vec![tool("t", "c1", " Forwarded to client ")], waits),
        (vec![tool("t", "c1", "Forwarded to client"), tool("t2", "c1", "1")], output("1")),
        // The server rejected the client's result.
        (vec![tool("t", "c1", "nonsense"), ours("error", "It does not fit.")], error("It does not fit.")),
    ];
    for (results, state) in cases {
        assert_eq!(answered(&results), state, "{results:?}");
    }
}

#[test]
fn arguments_are_json_or_the_original_text() {
    let cases = [
        ("", "{}"),
        ("  ", "{}"),
        (" {\"a\":1} ", "{\"a\":1}"),
        ("{\"a\":", "\"{\\\"a\\\":\""),
        ("[\n1]", "[1]"),
    ];
    for (text, json) in cases {
        let read = messages(&[json!({"id": "m", "role": "assistant", "toolCalls": [call("c", "a", text)]})]);
        assert_eq!(read[0].tools().next().unwrap().state.input().unwrap().as_str(), json, "{text:?}");
    }
    let exact = json!({"id": "c", "type": "function", "function": {"name": "a", "arguments": "{\"a\":1"},
        "metadata": {"omniassist": {"input": {"a": 2}}}});
    let read = messages(&[json!({"id": "m", "role": "assistant", "toolCalls": [exact]})]);
    assert_eq!(read[0].tools().next().unwrap().state.input().unwrap().as_str(), "{\"a\":2}");
}

#[test]
fn a_late_result_is_assigned_to_its_call() {
    let read = messages(&[
        json!({"id": "m", "role": "assistant", "toolCalls": [call("c1", "a", "{}")]}),
        json!({"id": "u", "role": "user", "content": "Never mind"}),
        tool("t", "c1", "late"),
    ]);
    assert_eq!(read.len(), 2);
    assert!(read[0].tools().next().unwrap().state.is_answered());
}

#[test]
fn invalid_messages_are_named_in_the_error() {
    let assistant = |calls: Value| json!({"id": "m", "role": "assistant", "toolCalls": calls});
    let wrong = [
        (json!({"role": 5, "content": ""}), "messages[0].role"),
        (json!({"content": ""}), "messages[0].role"),
        (json!({"role": "user"}), "messages[0].content"),
        (json!({"role": "user", "content": 5}), "messages[0].content"),
        (json!({"role": "user", "content": [5]}), "messages[0].content[0]"),
        (json!({"role": "user", "content": [{"type": "text", "text": 5}]}), "messages[0].content[0].text"),
        (json!({"role": "user", "content": [{"type": "image"}]}), "messages[0].content[0].source"),
        (
            json!({"role": "user", "content": [{"type": "image", "source": {"type": "data", "value": "QQ=="}}]}),
            "messages[0].content[0].source.mimeType",
        ),
        (
            json!({"role": "user", "content": [{"type": "image", "source": {"type": "data", "value": "QQ==", "mimeType": "image/png,x"}}]}),
            "messages[0].content[0].source.mimeType",
        ),
        (
            json!({"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}),
            "messages[0].content[0].source.value",
        ),
        (json!({"id": "a\u{1}", "role": "user", "content": ""}), "messages[0].id"),
        (json!({"id": 5, "role": "user", "content": ""}), "messages[0].id"),
        (json!({"role": "assistant", "content": 5}), "messages[0].content"),
        (assistant(json!({})), "messages[0].toolCalls"),
        (assistant(json!([5])), "messages[0].toolCalls[0]"),
        (assistant(json!([{"id": "c"}])), "messages[0].toolCalls[0].function"),
        (assistant(json!([{"id": "c", "function": {}}])), "messages[0].toolCalls[0].function.name"),
        (
            assistant(json!([{"id": "c", "function": {"name": "a", "arguments": {}}}])),
            "messages[0].toolCalls[0].function.arguments",
        ),
        (assistant(json!([{"id": "", "function": {"name": "a"}}])), "messages[0].toolCalls[0].id"),
        (assistant(json!([{"id": "a\nb", "function": {"name": "a"}}])), "messages[0].toolCalls[0].id"),
        (
            assistant(json!([call("c", "a", "{}"), call("c", "a", "{\"n\":1}")])),
            "messages[0].toolCalls[1].id",
        ),
        (assistant(json!([call("c", "a", "{}"), call("c", "b", "{}")])), "messages[0].toolCalls[1].id"),
        (tool("t", "nobody", "x"), "messages[0].toolCallId"),
        (json!({"role": "tool", "content": "x"}), "messages[0].toolCallId"),
        (json!({"role": "reasoning", "content": "a", "encryptedValue": 5}), "messages[0].encryptedValue"),
    ];
    for (message, path) in wrong {
        let error = read(&with_messages(std::slice::from_ref(&message))).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(path)), "{message}");
    }
    // An exact duplicate of a call is ignored.
    let read = messages(&[assistant(json!([call("c", "a", "{}"), call("c", "a", "{}")]))]);
    assert_eq!(read[0].tools().count(), 1);
}

#[test]
fn the_suffix_of_the_encoder_does_not_count_as_a_part_of_an_id() {
    let limit = omniassist_core::Limits::default().max_id_bytes;
    let id = "a".repeat(limit);
    let posted = read(&with_messages(&[
        json!({"id": "u", "role": "user", "content": "x"}),
        json!({"id": id, "role": "assistant", "content": "One"}),
        json!({"id": format!("{id}.12.345"), "role": "assistant", "content": "Two"}),
    ]))
    .unwrap();
    assert_eq!((posted.version, posted.request.messages[1].id.as_str()), (Version::V0, id.as_str()));
    let longer =
        read(&with_messages(&[json!({"id": format!("{id}a.1.1"), "role": "assistant", "content": "x"})]));
    assert!(longer.unwrap_err().is_limit());
}
