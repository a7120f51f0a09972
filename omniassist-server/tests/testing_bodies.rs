use bytes::Bytes;
use omniassist_server::testing::{SseBody, chat_sse, responses_sse};
use serde_json::{Value, json};

const TEXT: &str = "Grüße, 世界! Your order is on its way.";

/// Returns the data of each event. Data that is not JSON becomes a string.
fn data(body: SseBody) -> Vec<Value> {
    let bytes: Bytes = body.into();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.ends_with("\n\n"));
    let events = text.split_terminator("\n\n").map(|event| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let value = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
        if let Some(name) = event.lines().find_map(|line| line.strip_prefix("event: ")) {
            assert_eq!(value["type"], name);
        }
        value
    });
    events.collect()
}

fn joined(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<_> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    kinds.dedup();
    kinds
}

#[test]
fn a_responses_answer_has_every_event_of_its_items() {
    let body = responses_sse::empty().reasoning("Hm.").text(TEXT).usage(120, 30);
    let events = data(body.call("call_1", "look", json!({"id": 7})));
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], n);
    }
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds(&events), expected);
    let of =
        |kind: &str| -> Vec<Value> { events.iter().filter(|event| event["type"] == kind).cloned().collect() };
    assert_eq!(joined(&of("response.output_text.delta"), "/delta"), TEXT);
    assert!(of("response.output_text.delta").len() > 3);
    assert_eq!(joined(&of("response.function_call_arguments.delta"), "/delta"), "{\"id\":7}");
    let completed = &of("response.completed")[0]["response"];
    assert_eq!(completed["output"][1]["content"][0]["text"], TEXT);
    assert_eq!(completed["output"][2]["arguments"], "{\"id\":7}");
    assert_eq!(completed["usage"]["total_tokens"], 150);
}

#[test]
fn a_truncated_responses_call_has_no_end() {
    let events = data(responses_sse::empty().raw_call("c", "look", "{\"id\":").truncated());
    assert!(!kinds(&events).contains(&"response.function_call_arguments.done"));
    assert!(!kinds(&events).contains(&"response.output_item.done"));
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
}

#[test]
fn a_responses_error_ends_the_stream() {
    let alone = data(responses_sse::error("server_error", "no"));
    assert_eq!((kinds(&alone), &alone[0]["code"]), (vec!["error"], &json!("server_error")));
    let after = data(responses_sse::text("a").error("server_error", "no").text("never"));
    assert_eq!(after.last().unwrap()["type"], "error");
    assert_eq!(kinds(&after)[0], "response.created");
}

#[test]
fn a_chat_answer_ends_with_its_finish_usage_and_done() {
    let body = chat_sse::empty().reasoning("Hm.").text(TEXT).call("call_1", "look", json!({"id": 7}));
    let events = data(body.call("call_2", "look", json!({})).usage(120, 30));
    let delta = |path: &str| joined(&events, &format!("/choices/0/delta/{path}"));
    assert_eq!(delta("content"), TEXT);
    assert_eq!(delta("reasoning_content"), "Hm.");
    assert_eq!(delta("tool_calls/0/id"), "call_1call_2");
    assert_eq!(delta("tool_calls/0/function/arguments"), "{\"id\":7}{}");
    let [.., finish, usage, done] = events.as_slice() else { panic!() };
    assert_eq!(finish["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!((&usage["choices"], &usage["usage"]["total_tokens"]), (&json!([]), &json!(150)));
    assert_eq!(done, "[DONE]");
    let index: Vec<_> =
        events.iter().filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0/index")).collect();
    assert_eq!((index[0], index[index.len() - 1]), (&json!(0), &json!(1)));
}

#[test]
fn a_chat_answer_without_calls_stops_and_a_truncated_answer_has_the_reason_length() {
    let finish = |body| joined(&data(body), "/choices/0/finish_reason");
    assert_eq!(finish(chat_sse::text("a")), "stop");
    assert_eq!(finish(chat_sse::call("c", "look", json!({})).truncated()), "length");
}

#[test]
fn a_chat_error_can_follow_text() {
    let alone = data(chat_sse::error("rate_limit_exceeded", "no"));
    assert_eq!((alone.len(), &alone[0]["error"]["code"]), (2, &json!("rate_limit_exceeded")));
    let after = data(chat_sse::text("a").error("x", "no"));
    assert_eq!(
        (joined(&after, "/choices/0/delta/content"), joined(&after, "/choices/0/finish_reason")),
        ("a".into(), String::new())
    );
}
