//! Round trips of messages through the `UIMessage` format.

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::read_request;
use omniassist_core::message::{Message, MessageCollector, read};
use omniassist_core::{Limits, Text};
use proptest::prelude::*;

use crate::strategies;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn compact_messages_survive_a_round_trip(messages in strategies::messages()) {
        let json = serde_json::to_string(&messages).unwrap();
        let again = read::messages(&Text::from(json), &Limits::default()).unwrap();
        prop_assert_eq!(&again, &messages);
    }

    #[test]
    fn indented_messages_survive_a_round_trip(messages in strategies::messages()) {
        let json = serde_json::to_string_pretty(&messages).unwrap();
        let again = read::messages(&Text::from(json), &Limits::default()).unwrap();
        prop_assert_eq!(&again, &messages);
    }

    /// The client builds the message of an answer from the events, and posts it with the next question.
    #[test]
    fn the_reader_accepts_the_events_of_a_run(events in strategies::run()) {
        let mut collector = MessageCollector::new();
        events.iter().for_each(|event| collector.apply(event));
        let mut answer = collector.into_message();
        answer.id = "msg_1".into();
        let posted = serde_json::json!({ "messages": [Message::user("u1", "Hi"), answer, Message::user("u2", "So?")] });
        let request = read_request(Bytes::from(posted.to_string()), &Limits::default());
        prop_assert!(request.is_ok(), "{:?} of {}", request, posted);
    }

    #[test]
    fn damaged_text_is_read_or_is_an_error(
        messages in strategies::messages(), cut in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = serde_json::to_vec(&messages).unwrap();
        let at = cut.index(bytes.len());
        bytes[at] = byte;
        if let Ok(json) = String::from_utf8(bytes.clone()) {
            let _ = read::messages(&json.into(), &Limits::default());
        }
        bytes.truncate(at);
        if let Ok(json) = String::from_utf8(bytes) {
            prop_assert!(read::messages(&json.into(), &Limits::default()).is_err());
        }
    }
}

/// A `serde_json::Value` cannot represent these numbers. They are not parsed, so they are forwarded unchanged.
#[test]
fn numbers_that_floats_cannot_represent_are_kept() {
    for number in
        ["1e400", "-1.5E+99999", "0.1000000000000000055511151231257827", "123456789012345678901234567890"]
    {
        let call = format!(
            r#"{{"type":"tool-x","toolCallId":"1","state":"output-available","input":{{"n":{number}}},"output":[{number}]}}"#
        );
        let unknown = format!(r#"{{"type":"future","x":{number}}}"#);
        let posted = format!(r#"[{{"id":"a","role":"assistant","parts":[{call},{unknown}]}}]"#);
        let messages = read::messages(&Text::from(posted), &Limits::default()).unwrap();
        let written = serde_json::to_string(&messages).unwrap();
        assert_eq!(written.matches(number).count(), 3, "{written}");
        assert_eq!(read::messages(&Text::from(written), &Limits::default()).unwrap(), messages);
    }
}

#[test]
fn a_value_in_a_part_may_reach_the_depth_limit() {
    let limits = Limits::default();
    let read = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let part = format!(
            r#"{{"type":"tool-t","toolCallId":"c","state":"output-available","input":{value},"output":{value}}}"#
        );
        let body = format!(r#"{{"messages":[{{"id":"a","role":"assistant","parts":[{part}]}}]}}"#);
        read_request(Bytes::from(body), &limits)
    };
    // The body, `messages`, the message, `parts` and the part are five levels.
    let deepest = limits.max_json_depth - 5;
    read(deepest).unwrap();
    assert_eq!(read(deepest + 1).unwrap_err().limit(), Some(("max_json_depth", 64)));
}

#[test]
fn parsed_values_of_one_body_share_a_budget() {
    let body = |messages: usize, metadata: &str| {
        let message = |id| format!(r#"{{"id":"m{id}","role":"user","content":"x","metadata":{metadata}}}"#);
        let messages: Vec<_> = (0..messages).map(message).collect();
        Bytes::from(format!(r#"{{"messages":[{}]}}"#, messages.join(",")))
    };
    let mut limits = Limits::default();
    // `[0]` is a vector with room for four values.
    limits.max_json_memory_bytes = 3 * 4 * size_of::<serde_json::Value>();
    read_request(body(3, "[0]"), &limits).unwrap();
    let error = read_request(body(4, "[0]"), &limits).unwrap_err();
    assert_eq!(error.limit().unwrap().0, "max_json_memory_bytes");
    assert_eq!(error.path(), Some("messages[3].metadata"));

    // Small maps with 8 MiB of text would take more than 500 MiB.
    let maps = format!("[{}0]", r#"{"a":0},"#.repeat(1 << 20));
    let fields = (0..1 << 19).map(|n| format!(r#""{n:x}":{{}}"#)).collect::<Vec<_>>();
    for many in [maps, format!("{{{}}}", fields.join(","))] {
        let error = read_request(body(1, &many), &Limits::default()).unwrap_err();
        assert_eq!(error.limit().unwrap().0, "max_json_memory_bytes");
    }
    // An ordinary conversation with seals, item ids and times is far below the limit.
    let ordinary =
        r#"{"createdAt":1,"usage":{"input":1,"output":2},"omniassist":{"seals":{"c":"v1.k.0.aaaaaaaa"}}}"#;
    read_request(body(1_000, ordinary), &Limits::default()).unwrap();
}
