//! Tests of the encoding of ids, values, times and patches.

use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::event::{ApprovalRequest, FinishReason, Usage};
use omniassist_core::message::{Part, ToolState};
use omniassist_core::{JsonText, RunEvent};
use serde_json::{Value, json};

use super::client::Client;
use super::{encode, encoder, read, with_messages};

fn available(input: &str) -> RunEvent {
    RunEvent::ToolInputAvailable {
        call_id: "c".into(),
        name: "look_up".into(),
        input: JsonText::parse(input).unwrap(),
        provider_executed: false,
        metadata: None,
    }
}

#[test]
fn any_output_is_restored_from_its_text() {
    let values = [
        r#""hello""#,
        r#""5""#,
        "5",
        "null",
        r#""null""#,
        r#""""#,
        r#"" ""#,
        r#"{"a":1}"#,
        r#""{\"a\":1}""#,
        r#""[""#,
        "[]",
        r#"" 5 ""#,
        r#""\"quoted\"""#,
        "true",
        "1e400",
        r#""\u00e9""#,
        r#""\n""#,
    ];
    for json in values {
        let output = JsonText::parse(json).unwrap();
        let result = RunEvent::ToolOutput {
            call_id: "c".into(),
            output: output.clone(),
            preliminary: false,
            provider_executed: false,
        };
        let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
        client.apply_all(&encode(&mut encoder(Version::V1), &[available("{}"), result]));
        let posted = read(&with_messages(&client.messages)).unwrap();
        let parts = &posted.request.messages[1].parts;
        let Some(Part::Tool(call)) = parts.last() else { panic!("{parts:?}") };
        let ToolState::OutputAvailable { output: again, .. } = &call.state else {
            panic!("{json}: {call:?}")
        };
        assert_eq!(again.to_value(), output.to_value(), "{json}");
        assert_eq!(again.as_str().starts_with('"'), json.starts_with('"'), "{json}");
    }
}

#[test]
fn only_maps_of_two_levels_are_accepted_as_state() {
    let state = |encrypted: &str| {
        let answer = json!({"id": "a1", "role": "assistant", "content": "x", "encryptedValue": encrypted});
        let posted = read(&with_messages(&[answer])).unwrap();
        posted.request.messages[0].parts.iter().any(|part| match part {
            Part::Text(part) => part.metadata.is_some(),
            _ => false,
        })
    };
    assert!(state(r#"{"openai":{"itemId":"rs_1"}}"#));
    let deep = format!(r#"{{"a":{{"b":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    for encrypted in ["", "gAAAAAB", "{}", "[]", r#"{"a":1}"#, r#"{"a":{}"#, &deep] {
        assert!(!state(encrypted), "{encrypted}");
    }
}

#[test]
fn only_ids_of_this_server_are_shortened() {
    let named = |id: &str| {
        let answer = json!({"id": id, "role": "assistant", "content": "x"});
        read(&with_messages(&[answer])).unwrap().request.messages[0].id.to_string()
    };
    for (answer, id) in
        [("msg_1", "msg_1.1.2"), ("a.b", "a.b.0.0"), ("x.1.2", "x.1.2.7.4294967295"), ("a.1", "a.1.2.3")]
    {
        assert_eq!(named(id), answer);
    }
    for id in ["msg_1", "a.b", "a.1", ".1.2", "a.01.2", "a.1.+2", "a..2", "a.1.", "a.1.99999999999"] {
        assert_eq!(named(id), id);
    }
}

#[test]
fn invalid_patches_are_omitted() {
    let is_sent = |json: &str| {
        let sent = encode(&mut encoder(Version::V1), &[RunEvent::StateDelta(JsonText::parse(json).unwrap())]);
        sent.iter().any(|event| event["type"] == "STATE_DELTA")
    };
    for json in [
        "[]",
        r#"[{"op":"add","path":"/a","value":null}]"#,
        r#"[{"op":"replace","path":"","value":{"a":1}},{"op":"test","path":"/a~1b~0","value":1}]"#,
        r#"[{"op":"remove","path":"/a/0","value":"left over"}]"#,
        r#"[{"op":"move","from":"/a","path":"/b"},{"op":"copy","from":"/b","path":"/c/-"}]"#,
    ] {
        assert!(is_sent(json), "{json}");
    }
    for json in [
        "{}",
        "[1]",
        "null",
        r#"[{"op":"add","path":"/a"}]"#,
        r#"[{"op":"add","path":"a","value":1}]"#,
        r#"[{"op":"add","path":"/a~2","value":1}]"#,
        r#"[{"op":"add","path":"/a~","value":1}]"#,
        r#"[{"op":"merge","path":"/a","value":1}]"#,
        r#"[{"op":"move","path":"/a"}]"#,
        r#"[{"path":"/a","value":1}]"#,
        r#"[{"op":"remove","path":5}]"#,
    ] {
        assert!(!is_sent(json), "{json}");
    }
}

#[test]
fn times_are_written_as_dates() {
    for (time, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_763_778_030_123, "2025-11-22T02:20:30.123Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (u64::MAX, "9999-12-31T23:59:59.999Z"),
    ] {
        let mut request = ApprovalRequest::new("c".into(), "look_up".into(), JsonText::EMPTY_OBJECT);
        request.expires_at_ms = Some(time);
        let finish = RunEvent::Finish { reason: FinishReason::ToolCalls, usage: Usage::default() };
        let events = [available("{}"), RunEvent::ToolApprovalRequest(request), finish];
        let sent = encode(&mut encoder(Version::V1), &events);
        let end: &Value = sent.last().unwrap();
        assert_eq!(end["outcome"]["interrupts"][0]["expiresAt"], text);
    }
}
