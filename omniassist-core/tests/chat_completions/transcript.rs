//! Tests of the posted conversation.

use std::collections::BTreeSet;

use bytes::Bytes;
use omniassist_core::dialect::chat_completions::read_request;
use omniassist_core::message::{Message, Part, Role, ToolPart, ToolState};
use omniassist_core::transcript::{from_messages, is_legal};
use omniassist_core::{JsonText, Limits, TranscriptItem};
use serde_json::{Value, json};

use super::{read, refused, said, with};

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn result(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

fn calls(parts: &[Part]) -> Vec<&ToolPart> {
    parts.iter().filter_map(|part| if let Part::Tool(call) = part { Some(call) } else { None }).collect()
}

#[test]
fn calls_and_results_become_one_message_that_the_run_continues() {
    let run = read(&said(json!([
        {"role": "user", "content": "Show it"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call("c1", "show", "{\"a\": 1}"), call("c2", "hide", "")]},
        result("c2", json!("hidden")),
        result("c1", json!([{"type": "text", "text": "sho"}, {"type": "text", "text": "wn"}])),
        {"role": "assistant", "content": null, "tool_calls": [call("c3", "show", "{}")]},
        result("c3", json!("{\"shown\": true}")),
    ])))
    .unwrap()
    .run;
    let [question, answer] = run.messages.as_slice() else { panic!("{:?}", run.messages) };
    assert_eq!((question.role, answer.role), (Role::User, Role::Assistant));
    let shape: Vec<&str> = answer
        .parts
        .iter()
        .map(|part| match part {
            Part::StepStart => "step",
            Part::Text(_) => "text",
            Part::Tool(_) => "tool",
            _ => "other",
        })
        .collect();
    assert_eq!(shape, ["step", "text", "tool", "tool", "step", "tool"]);
    let outputs: Vec<_> = calls(&answer.parts)
        .into_iter()
        .map(|call| match &call.state {
            ToolState::OutputAvailable { input, output, preliminary: false } => {
                (call.call_id.to_string(), input.to_value(), output.to_str_value().unwrap())
            }
            state => panic!("{state:?}"),
        })
        .collect();
    assert_eq!(
        outputs,
        [
            ("c1".to_owned(), json!({"a": 1}), "shown".to_owned()),
            ("c2".to_owned(), json!({}), "hidden".to_owned()),
            ("c3".to_owned(), json!({}), "{\"shown\": true}".to_owned()),
        ]
    );
    assert_eq!(run.past_tools, ["hide", "show"]);
    assert!(is_legal(&from_messages(&run.messages)));
}

#[test]
fn an_offered_tool_is_not_a_past_tool() {
    let run = read(&with(json!({
        "tools": [{"type": "function", "function": {"name": "show"}}],
        "messages": [
            {"role": "user", "content": "Go"},
            {"role": "assistant", "tool_calls": [call("c1", "show", "{}"), call("c2", "hide", "{}")]},
            result("c1", json!("")), result("c2", json!("")),
        ],
    })))
    .unwrap()
    .run;
    assert_eq!(run.past_tools, ["hide"]);
}

#[test]
fn an_id_repeated_in_later_turns_belongs_to_separate_calls() {
    let turn = |number: u32| {
        [
            json!({"role": "user", "content": "Go"}),
            json!({"role": "assistant", "tool_calls": [call("call_0", "show", &format!("{{\"n\":{number}}}"))]}),
            result("call_0", json!(format!("result {number}"))),
        ]
    };
    let run = read(&said(json!([turn(1), turn(2), turn(3)].concat()))).unwrap().run;
    let transcript = from_messages(&run.messages);
    assert!(is_legal(&transcript));
    let pairs: Vec<(String, Value)> = transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Call(call) => Some((call.id.to_string(), call.arguments.to_value())),
            TranscriptItem::Result(result) => Some((result.call_id.to_string(), result.output.to_value())),
            _ => None,
        })
        .collect();
    let expected = [
        ("call_0", json!({"n": 1})),
        ("call_0", json!("result 1")),
        ("call_0-2", json!({"n": 2})),
        ("call_0-2", json!("result 2")),
        ("call_0-3", json!({"n": 3})),
        ("call_0-3", json!("result 3")),
    ];
    assert_eq!(pairs, expected.map(|(id, value)| (id.to_owned(), value)));
}

#[test]
fn a_conversation_cannot_end_with_an_unanswered_call() {
    let asked = json!({"role": "user", "content": "Go"});
    let called = json!({"role": "assistant", "tool_calls": [call("c1", "a", "{}"), call("c2", "b", "{}")]});
    refused(&said(json!([asked, called])), "messages[1].tool_calls[0].id");
    refused(&said(json!([asked, called, result("c1", json!("x"))])), "messages[1].tool_calls[1].id");
    refused(&said(json!([asked, called, result("c2", json!("x"))])), "messages[1].tool_calls[0].id");
    assert!(read(&said(json!([asked, called, result("c1", json!("x")), result("c2", json!("y"))]))).is_ok());
    // A client may continue without the result. The model then receives a result that states this.
    let run = read(&said(json!([asked, called, asked]))).unwrap().run;
    assert!(is_legal(&from_messages(&run.messages)));
}

#[test]
fn the_results_of_calls_are_checked() {
    let asked = json!({"role": "user", "content": "Go"});
    let called = json!({"role": "assistant", "tool_calls": [call("c1", "a", "{}")]});
    refused(&said(json!([asked, called, result("c9", json!("x"))])), "messages[2].tool_call_id");
    refused(&said(json!([asked, result("c1", json!("x")), called])), "messages[1].tool_call_id");
    let (one, two) = (result("c1", json!("one")), result("c1", json!("two")));
    refused(&said(json!([asked, called, one, two])), "messages[3].tool_call_id");
    assert!(read(&said(json!([asked, called, one, one]))).is_ok());
    refused(&said(json!([asked, called, {"role": "tool", "content": "x"}])), "messages[2].tool_call_id");
    refused(&said(json!([asked, called, {"role": "tool", "tool_call_id": "c1"}])), "messages[2].content");
    refused(&said(json!([asked, called, result("c1", json!(5))])), "messages[2].content");
    refused(
        &said(json!([asked, called, result("c1", json!([{"type": "image_url"}]))])),
        "messages[2].content[0].type",
    );
}

#[test]
fn invalid_calls_are_rejected() {
    let posted = |call: Value| {
        said(json!([{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "x"}]))
    };
    let at = |rest: &str| format!("messages[0].tool_calls[0]{rest}");
    refused(&posted(json!(1)), &at(""));
    refused(&posted(json!({"function": {"name": "a", "arguments": ""}})), &at(".id"));
    refused(&posted(json!({"id": "", "function": {"name": "a", "arguments": ""}})), &at(".id"));
    refused(&posted(json!({"id": "a\nb", "function": {"name": "a", "arguments": ""}})), &at(".id"));
    refused(&posted(json!({"id": "c"})), &at(".function"));
    refused(&posted(json!({"id": "c", "type": "custom", "custom": {}})), &at(".type"));
    refused(&posted(json!({"id": "c", "function": {"arguments": ""}})), &at(".function.name"));
    refused(&posted(call("c", "a\nb", "{}")), &at(".function.name"));
    refused(&posted(call("c", &"a".repeat(65), "{}")), &at(".function.name"));
    assert!(read(&posted(call("c", &"a".repeat(64), "{}"))).is_ok());
    refused(&posted(json!({"id": "c", "function": {"name": "a"}})), &at(".function.arguments"));
    refused(
        &posted(json!({"id": "c", "function": {"name": "a", "arguments": {}}})),
        &at(".function.arguments"),
    );
    refused(&said(json!([{"role": "assistant", "tool_calls": {}}])), "messages[0].tool_calls");
    let twice = json!([{"role": "assistant", "tool_calls": [call("c", "a", ""), call("c", "a", "")]}]);
    refused(&said(twice), "messages[0].tool_calls[1].id");
    refused(
        &said(json!([{"role": "assistant", "function_call": {"name": "a", "arguments": ""}}])),
        "messages[0].function_call",
    );
}

#[test]
fn incomplete_arguments_are_kept_as_text() {
    let run = read(&said(json!([
        {"role": "assistant", "tool_calls": [call("c", "a", "{\"x\": ")]},
        {"role": "user", "content": "x"},
    ])))
    .unwrap()
    .run;
    let ToolState::InputAvailable { input } = &calls(&run.messages[0].parts)[0].state else {
        panic!("expected a tool call")
    };
    assert_eq!(*input, JsonText::from_str_value("{\"x\": "));
    assert!(is_legal(&from_messages(&run.messages)));
}

#[test]
fn assistant_messages_are_read() {
    let run = read(&said(json!([
        {"role": "assistant", "content": "One", "refusal": null, "audio": null, "annotations": []},
        {"role": "assistant", "content": [{"type": "text", "text": "Two"}, {"type": "refusal", "refusal": "No"}]},
        {"role": "assistant", "content": "", "refusal": "Never"},
        {"role": "assistant", "content": ""},
        {"role": "assistant"},
        {"role": "user", "content": "x"},
    ])))
    .unwrap()
    .run;
    assert_eq!(run.messages.len(), 2);
    assert_eq!(run.messages[0].text(), "OneTwoNoNever");
    refused(&said(json!([{"role": "assistant", "content": 5}])), "messages[0].content");
    refused(
        &said(json!([{"role": "assistant", "content": [{"type": "image_url"}]}])),
        "messages[0].content[0].type",
    );
    refused(&said(json!([{"role": "assistant", "refusal": 5}])), "messages[0].refusal");
    refused(&said(json!([{"role": "assistant", "content": ""}])), "messages");
}

#[test]
fn roles_are_mapped() {
    for role in [json!("function"), json!("root"), json!(1), Value::Null] {
        refused(&said(json!([{"role": role, "content": "x"}])), "messages[0].role");
    }
    refused(&said(json!([{"role": "system"}])), "messages[0].content");
    refused(
        &said(json!([{"role": "system", "content": [{"type": "image_url"}]}])),
        "messages[0].content[0].type",
    );
    refused(&said(json!([{"role": "user", "content": null}])), "messages[0].content");
    refused(
        &said(json!([{"role": "user", "content": "a"}, {"role": "user", "content": [1]}])),
        "messages[1].content[0]",
    );
}

#[test]
fn files_of_all_kinds_are_read() {
    let of = |part: Value| {
        let run = read(&said(json!([{"role": "user", "content": [part]}]))).unwrap().run;
        let Part::File(file) = run.messages[0].parts[0].clone() else { panic!("expected a file part") };
        (file.media_type.to_string(), file.url.to_string(), file.filename.map(|name| name.to_string()))
    };
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}});
    let data = "data:image/png;base64,AAAA";
    assert_eq!(of(image(data)), ("image/png".into(), data.into(), None));
    for (url, media_type) in [
        ("https://x.example/a.PNG?size=1", "image/png"),
        ("https://x.example/a.jpeg#x", "image/jpeg"),
        ("http://x.example/a.webp", "image/webp"),
        ("https://x.example/a", "image/*"),
    ] {
        assert_eq!(of(image(url)), (media_type.into(), url.into(), None));
    }
    let pdf = "data:application/pdf;name=x;base64,AAAA";
    let file = json!({"type": "file", "file": {"file_data": pdf, "filename": "a.pdf"}});
    assert_eq!(of(file), ("application/pdf".into(), pdf.into(), Some("a.pdf".into())));
    for (format, media_type) in [("wav", "audio/wav"), ("mp3", "audio/mpeg")] {
        let audio = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": format}});
        assert_eq!(of(audio), (media_type.into(), format!("data:{media_type};base64,AAAA"), None));
    }

    let part = |part: Value| said(json!([{"role": "user", "content": [part]}]));
    let at = |rest: &str| format!("messages[0].content[0].{rest}");
    refused(&part(json!({"type": "video"})), &at("type"));
    refused(&part(json!({"text": "x"})), &at("type"));
    refused(&part(json!({"type": "text"})), &at("text"));
    refused(&part(json!({"type": "image_url"})), &at("image_url"));
    refused(&part(json!({"type": "image_url", "image_url": "x"})), &at("image_url"));
    refused(&part(json!({"type": "image_url", "image_url": {}})), &at("image_url.url"));
    for url in ["file:///etc/passwd", "data:text/html,x", "data:image/png", "ftp://x.example/a.png", ""] {
        refused(&part(image(url)), &at("image_url.url"));
    }
    refused(&part(json!({"type": "file", "file": {"file_id": "f-1"}})), &at("file.file_id"));
    refused(&part(json!({"type": "file", "file": {}})), &at("file.file_data"));
    refused(&part(json!({"type": "file", "file": {"file_data": "AAAA"}})), &at("file.file_data"));
    refused(&part(json!({"type": "input_audio", "input_audio": {"format": "wav"}})), &at("input_audio.data"));
    refused(
        &part(json!({"type": "input_audio", "input_audio": {"data": "A", "format": "ogg"}})),
        &at("input_audio.format"),
    );
}

#[test]
fn repeated_call_ids_are_renamed_in_linear_time() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "a", "arguments": ""}});
    let answer = json!({"role": "assistant", "tool_calls": [call("c")]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    let pairs = [answer, result];
    let mut limits = Limits::default();
    limits.max_conversation_parts = usize::MAX;
    let time = |count: usize| {
        let messages: Vec<_> = pairs.iter().cycle().take(2 * count).cloned().collect();
        let body = Bytes::from(said(Value::from(messages)).to_string());
        let start = std::time::Instant::now();
        let run = read_request(body, &limits).unwrap().run;
        let ids: BTreeSet<_> =
            run.messages.iter().flat_map(Message::tools).map(|call| &call.call_id).collect();
        assert_eq!(ids.len(), count);
        start.elapsed()
    };
    // Ten times the number of calls take about ten times as long. Quadratic time would take a hundred times as long.
    let (few, many) = (time(2_000), time(20_000));
    assert!(many < few * 40, "{few:?} {many:?}");
    let chosen = said(json!([
        {"role": "assistant", "tool_calls": [call("c"), call("c-2")]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "tool", "tool_call_id": "c-2", "content": "x"},
        {"role": "assistant", "tool_calls": [call("c")]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "assistant", "tool_calls": [call("c-3"), call("c")]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "tool", "tool_call_id": "c-3", "content": "x"},
    ]));
    let run = read(&chosen).unwrap().run;
    let ids: Vec<_> =
        run.messages.iter().flat_map(Message::tools).map(|call| call.call_id.as_str()).collect();
    assert_eq!(ids, ["c", "c-2", "c-3", "c-3-2", "c-4"]);
}
