//! Tests of the encoding of events.

use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::event::{BlockId, FinishReason, RunErrorCode, Source, Usage};
use omniassist_core::{JsonText, RunEvent, Text};
use serde_json::{Value, json};

use super::{encode, encode_bytes, encoder, protocol, read, with, with_messages};

fn start() -> RunEvent {
    RunEvent::Start { message_id: "msg_1".into(), metadata: None }
}

fn text(id: u32, deltas: &[&str]) -> Vec<RunEvent> {
    let id = BlockId(id);
    let mut events = vec![RunEvent::TextStart { id }];
    events.extend(deltas.iter().map(|delta| RunEvent::TextDelta { id, delta: Text::from(*delta) }));
    events.push(RunEvent::TextEnd { id, metadata: None });
    events
}

fn reasoning(id: u32, delta: &'static str) -> Vec<RunEvent> {
    let id = BlockId(id);
    vec![
        RunEvent::ReasoningStart { id },
        RunEvent::ReasoningDelta { id, delta: delta.into() },
        RunEvent::ReasoningEnd { id, metadata: None },
    ]
}

fn available(call_id: &'static str, input: &'static str) -> RunEvent {
    RunEvent::ToolInputAvailable {
        call_id: call_id.into(),
        name: "look_up".into(),
        input: JsonText::parse(input).unwrap(),
        provider_executed: false,
        metadata: None,
    }
}

fn output(call_id: &'static str, output: &'static str) -> RunEvent {
    let (call_id, output) = (call_id.into(), JsonText::parse(output).unwrap());
    RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false }
}

fn finish() -> RunEvent {
    RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn sent(version: Version, events: &[RunEvent]) -> Vec<Value> {
    let sent = encode(&mut encoder(version), events);
    protocol::check_loosely(version, &sent);
    sent
}

/// Returns the events between `RUN_STARTED` and the end.
fn middle(events: Vec<RunEvent>) -> Vec<Value> {
    let mut all = vec![start()];
    all.extend(events);
    all.push(finish());
    let mut sent = sent(Version::V0, &all);
    sent.pop();
    sent.remove(0);
    sent
}

#[test]
fn a_run_is_encoded_byte_for_byte() {
    let mut events = vec![start(), RunEvent::StepStart];
    events.extend(text(0, &["Hel", "lo \"you\"\n"]));
    events.push(RunEvent::StepFinish { reason: FinishReason::Stop, usage: Usage::default() });
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(3), Some(4));
    events.push(RunEvent::Finish { reason: FinishReason::Stop, usage });
    let expected = [
        r#"{"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1","protocolVersion":"1.0"}"#,
        r#"{"type":"STEP_STARTED","stepName":"step-1"}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"msg_1","role":"assistant"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg_1","delta":"Hel"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg_1","delta":"lo \"you\"\n"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"msg_1"}"#,
        r#"{"type":"STEP_FINISHED","stepName":"step-1"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","usage":[{"inputTokens":3,"outputTokens":4}],"metadata":{"omniassist":{"finishReason":"stop"}}}"#,
    ];
    let whole: String = expected.iter().map(|json| format!("data: {json}\n\n")).collect();
    assert_eq!(encode_bytes(&mut encoder(Version::V1), &events), whole);
    let without = whole.replace(r#","protocolVersion":"1.0""#, "");
    assert_eq!(encode_bytes(&mut encoder(Version::V0), &events), without);
}

#[test]
fn the_parent_run_is_repeated() {
    let posted = read(&with(json!({"parentRunId": "run-0"}))).unwrap();
    let sent = encode(&mut posted.encoder(), &[start(), finish()]);
    assert_eq!(sent[0]["parentRunId"], "run-0");
}

#[test]
fn calls_belong_to_the_message_of_the_preceding_text() {
    let mut events = vec![RunEvent::StepStart];
    events.extend(text(0, &["Looking."]));
    events.push(available("c1", "{}"));
    events.push(available("c2", "{}"));
    events.extend(reasoning(1, "Hm"));
    events.push(available("c3", "{}"));
    events.extend(text(2, &["And."]));
    events.push(RunEvent::StepStart);
    events.push(available("c4", "{}"));
    let parents: Vec<_> = middle(events)
        .iter()
        .filter(|event| event["type"] == "TOOL_CALL_START")
        .map(|event| event["parentMessageId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(parents, ["msg_1", "msg_1", "msg_1.1.2", "msg_1.2.4"]);
}

#[test]
fn only_a_message_of_the_first_step_has_the_id_of_the_answer() {
    let mut events = vec![RunEvent::StepStart];
    events.extend(reasoning(0, "Hm"));
    events.push(RunEvent::StepStart);
    events.extend(text(1, &["Hi"]));
    let ids: Vec<_> =
        middle(events).iter().filter_map(|event| event["messageId"].as_str().map(str::to_owned)).collect();
    assert_eq!(ids.first().unwrap(), "msg_1.1.1");
    assert_eq!(ids.last().unwrap(), "msg_1.2.2");
}

#[test]
fn reasoning_opens_and_closes_a_span() {
    let mut events = vec![];
    events.extend(reasoning(0, "Hm"));
    assert_eq!(
        kinds(&middle(events)),
        [
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_END"
        ]
    );
}

#[test]
fn state_is_encoded_as_encrypted_values() {
    let state = serde_json::from_str(r#"{"openai":{"itemId":"x"},"odd":5}"#).unwrap();
    let ours: Value = json!(r#"{"openai":{"itemId":"x"}}"#);
    let id = BlockId(0);
    let text = middle(vec![RunEvent::TextStart { id }, RunEvent::TextEnd { id, metadata: Some(state) }]);
    assert_eq!(
        text[2],
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "msg_1", "encryptedValue": ours})
    );
    let odd = Some(serde_json::from_str(r#"{"odd":5}"#).unwrap());
    let nothing = middle(vec![RunEvent::TextStart { id }, RunEvent::TextEnd { id, metadata: odd }]);
    assert_eq!(kinds(&nothing), ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"]);

    let seal = RunEvent::OutputSeal { call_id: "c1".into(), seal: "v1.k.mac".into() };
    let sealed = middle(vec![available("c1", "{}"), output("c1", "1"), seal.clone()]);
    assert_eq!(sealed[3]["messageId"], sealed[4]["entityId"]);
    assert_eq!(sealed[4]["encryptedValue"], r#"{"omniassist":{"seal":"v1.k.mac"}}"#);
    assert!(middle(vec![available("c1", "{}"), seal]).iter().all(|event| event["subtype"] != "message"));
}

#[test]
fn outputs_are_text_or_json() {
    let outputs = [
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (r#""plain text""#, "plain text"),
        (r#""5""#, r#""5""#),
        (r#""""#, r#""""#),
        ("null", "null"),
        (r#""line\nline""#, "line\nline"),
    ];
    for (value, content) in outputs {
        let sent = middle(vec![available("c1", "{}"), output("c1", value)]);
        assert_eq!(sent[3]["content"], content, "{value}");
        assert_eq!(sent[3]["metadata"], json!({"omniassist": {"result": "output"}}));
    }
}

#[test]
fn the_client_receives_the_executed_arguments() {
    let delta = |delta: &'static str| RunEvent::ToolInputDelta { call_id: "c1".into(), delta: delta.into() };
    let begun =
        RunEvent::ToolInputStart { call_id: "c1".into(), name: "look_up".into(), title: None, app: None };
    let args = |deltas: &[&'static str], input| {
        let mut events = vec![begun.clone()];
        events.extend(deltas.iter().map(|text| delta(text)));
        events.push(available("c1", input));
        let sent = middle(events);
        let text: String = sent.iter().filter_map(|event| event["delta"].as_str()).collect();
        (text, sent.last().unwrap()["metadata"].clone())
    };
    let as_streamed = (r#"{"n":1}"#.to_owned(), Value::Null);
    assert_eq!(args(&[r#"{"n""#, r#":1}"#], r#"{"n":1}"#), as_streamed);
    assert_eq!(args(&[], r#"{"n":1}"#), as_streamed, "without deltas");
    assert_eq!(args(&[r#"{"n""#], r#"{"n":1}"#), as_streamed, "with incomplete deltas");
    assert_eq!(args(&[" {\"n\":1}\n"], r#"{"n":1}"#), (" {\"n\":1}\n".to_owned(), Value::Null));
    assert_eq!(args(&[], "{}"), ("{}".to_owned(), Value::Null));
    for none in [&["nu", "ll"][..], &["null"], &[" \"nul", "l\" "]] {
        assert_eq!(args(none, "{}"), ("{}".to_owned(), Value::Null), "{none:?}");
    }
    assert_eq!(args(&["nu", "mber"], "\"number\""), ("number".to_owned(), Value::Null));
    let exact = json!({"omniassist": {"input": {"n": 2}}});
    assert_eq!(args(&[r#"{"n":1}"#], r#"{"n":2}"#), (r#"{"n":1}"#.to_owned(), exact));
}

#[test]
fn a_provider_executed_call_is_marked() {
    let mut ran = available("c1", "{}");
    let RunEvent::ToolInputAvailable { provider_executed, .. } = &mut ran else { panic!() };
    *provider_executed = true;
    let sent = middle(vec![ran.clone(), output("c1", "1")]);
    assert_eq!(kinds(&sent), ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]);
    assert_eq!(sent[2]["metadata"], json!({"omniassist": {"providerExecuted": true}}));
    // Only the provider can run the call.
    let left = middle(vec![ran]);
    assert_eq!(left[3]["metadata"], json!({"omniassist": {"result": "interrupted"}}));
}

#[test]
fn an_invalid_call_receives_its_error() {
    let error = RunEvent::ToolInputError {
        call_id: "c1".into(),
        name: "look_up".into(),
        input: JsonText::from_str_value("{\"n\":"),
        error_text: "It was cut off.".into(),
        metadata: None,
    };
    let sent = middle(vec![error]);
    assert_eq!(kinds(&sent), ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]);
    assert_eq!((&sent[1]["delta"], &sent[3]["content"]), (&json!("{\"n\":"), &json!("It was cut off.")));
    assert_eq!(sent[3]["metadata"], json!({"omniassist": {"result": "error"}}));
}

#[test]
fn a_refused_call_receives_the_reason() {
    let refused = RunEvent::ToolRefused { call_id: "c1".into(), reason: "Not today.".into() };
    let sent = middle(vec![available("c1", "{}"), refused]);
    assert_eq!(
        (&sent[3]["content"], &sent[3]["metadata"]["omniassist"]["result"]),
        (&json!("Not today."), &json!("error"))
    );
}

#[test]
fn pending_calls_are_listed_only_for_1_0() {
    let events = [start(), available("c1", "{}"), available("c2", "{}"), output("c1", "1"), finish()];
    let outcome = |version| sent(version, &events).last().unwrap()["outcome"].clone();
    assert_eq!(outcome(Version::V1), json!({"type": "success", "pendingToolCallIds": ["c2"]}));
    assert_eq!(outcome(Version::V0), Value::Null);
}

#[test]
fn a_stopped_run_leaves_no_pending_calls() {
    let begun =
        RunEvent::ToolInputStart { call_id: "c2".into(), name: "look_up".into(), title: None, app: None };
    let abort = RunEvent::Abort { reason: "Stopped by the user.".into() };
    let id = BlockId(0);
    let events = [
        start(),
        RunEvent::StepStart,
        RunEvent::TextStart { id },
        available("c1", "{}"),
        begun,
        RunEvent::ReasoningStart { id: BlockId(1) },
        abort,
        finish(),
    ];
    for version in [Version::V0, Version::V1] {
        let sent = sent(version, &events);
        let results: Vec<_> = sent
            .iter()
            .filter(|event| event["type"] == "TOOL_CALL_RESULT")
            .map(|event| {
                (
                    event["toolCallId"].as_str().unwrap(),
                    event["metadata"]["omniassist"]["result"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(results, [("c1", "interrupted"), ("c2", "cut")]);
        let end = sent.last().unwrap();
        match version {
            Version::V1 => {
                assert_eq!(
                    (&end["type"], &end["outcome"]),
                    (&json!("RUN_FINISHED"), &json!({"type": "cancelled"}))
                );
                assert_eq!(end["metadata"], json!({"omniassist": {"abortReason": "Stopped by the user."}}));
            }
            _ => assert_eq!(
                *end,
                json!({"type": "RUN_ERROR", "message": "Stopped by the user.", "code": "STOPPED"})
            ),
        }
    }
}

#[test]
fn an_error_closes_all_open_parts() {
    let id = BlockId(0);
    let code = RunErrorCode::RateLimited;
    let mut usage = Usage::default();
    usage.output_tokens = Some(u64::MAX);
    let events = [
        start(),
        RunEvent::StepStart,
        RunEvent::StepFinish { reason: FinishReason::Stop, usage },
        RunEvent::StepStart,
        RunEvent::TextStart { id },
        RunEvent::Error { code, message: code.safe_message().into() },
    ];
    let sent = sent(Version::V0, &events);
    assert_eq!(
        kinds(&sent)[3..],
        ["STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_ERROR"]
    );
    assert_eq!(
        *sent.last().unwrap(),
        json!({"type": "RUN_ERROR", "message": code.safe_message(), "code": "rate_limited",
            "usage": [{"outputTokens": (1_u64 << 53) - 1}]})
    );
}

#[test]
fn cache_writes_are_reported_only_to_1_0() {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.cache_write_input_tokens) = (Some(9), Some(4));
    let events = [start(), RunEvent::Finish { reason: FinishReason::Stop, usage }];
    let usage = |version| sent(version, &events).pop().unwrap()["usage"].clone();
    assert_eq!(usage(Version::V1), json!([{"inputTokens": 9, "cacheWriteInputTokens": 4}]));
    assert_eq!(usage(Version::V0), json!([{"inputTokens": 9}]));
}

#[test]
fn a_run_without_an_end_is_an_error() {
    let dropped = sent(Version::V1, &[start(), RunEvent::StepStart]);
    assert_eq!(dropped.last().unwrap()["code"], "stream_interrupted");
    assert_eq!(kinds(&sent(Version::V0, &[])), ["RUN_ERROR"]);
}

#[test]
fn no_event_follows_the_end() {
    let sent = sent(Version::V0, &[start(), finish(), RunEvent::StepStart, finish()]);
    assert_eq!(kinds(&sent), ["RUN_STARTED", "RUN_FINISHED"]);
}

#[test]
fn some_events_are_displayed_and_not_stored() {
    let data = |id: Option<&'static str>, transient| RunEvent::Data {
        name: "weather".into(),
        id: id.map(Into::into),
        data: JsonText::parse("[1]").unwrap(),
        transient,
    };
    let source = Source::Url { id: "s1".into(), url: "https://a.example".into(), title: None };
    let metadata = serde_json::from_str(r#"{"cost":"0.01"}"#).unwrap();
    let progress = RunEvent::ToolOutput {
        call_id: "c1".into(),
        output: JsonText::parse(r#"{"done":1}"#).unwrap(),
        preliminary: true,
        provider_executed: false,
    };
    let shown = [
        (
            RunEvent::Source(source),
            json!({"name": "omniassist.source", "value": {"type": "url", "id": "s1", "url": "https://a.example"}}),
        ),
        (
            RunEvent::File { media_type: "image/png".into(), url: "https://a.example".into() },
            json!({"name": "omniassist.file", "value": {"mediaType": "image/png", "url": "https://a.example"}}),
        ),
        (data(None, false), json!({"name": "weather", "value": [1]})),
        (
            data(Some("d1"), true),
            json!({"name": "weather", "value": [1], "metadata": {"omniassist": {"id": "d1", "transient": true}}}),
        ),
        (RunEvent::Metadata(metadata), json!({"name": "omniassist.metadata", "value": {"cost": "0.01"}})),
        (
            progress,
            json!({"name": "omniassist.tool-progress", "value": {"toolCallId": "c1", "output": {"done": 1}}}),
        ),
    ];
    for (event, mut expected) in shown {
        expected["type"] = "CUSTOM".into();
        assert_eq!(middle(vec![event]), [expected]);
    }
    let first = sent(
        Version::V0,
        &[RunEvent::Start { message_id: "m".into(), metadata: Some(serde_json::Map::new()) }],
    );
    assert_eq!(first[1]["name"], "omniassist.metadata");
}

#[test]
fn progress_of_any_depth_is_encoded() {
    let deep = JsonText::parse("[".repeat(200) + &"]".repeat(200)).unwrap();
    let progress = RunEvent::ToolOutput {
        call_id: "c1".into(),
        output: deep.clone(),
        preliminary: true,
        provider_executed: false,
    };
    let text = encode_bytes(&mut encoder(Version::V0), &[start(), progress]);
    assert!(text.contains(deep.as_str()));
}

#[test]
fn valid_state_and_activities_are_encoded() {
    let json = |text: &'static str| JsonText::parse(text).unwrap();
    let patch = || json(r#"[{"op":"add","path":"/a","value":1}]"#);
    let events = vec![
        RunEvent::StateSnapshot(json(r#"{"a":null}"#)),
        RunEvent::StateDelta(patch()),
        RunEvent::ActivitySnapshot { id: "x".into(), kind: "plan".into(), content: json(r#"{"a":1}"#) },
        // Clients would end the run at these invalid events.
        RunEvent::StateDelta(json(r#"[{"op":"add","path":"a","value":1}]"#)),
        RunEvent::ActivitySnapshot { id: "y".into(), kind: "plan".into(), content: json("5") },
    ];
    let expected = [
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"a": null}}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": 1}]}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "x", "activityType": "plan", "content": {"a": 1}}),
    ];
    assert_eq!(middle(events), expected);
}

#[test]
fn a_continued_answer_uses_new_ids() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "navigate", "arguments": "{}"}});
    let posted = read(&with_messages(&[
        json!({"id": "u1", "role": "user", "content": "Open it"}),
        json!({"id": "msg_1", "role": "assistant", "content": "Opening.", "toolCalls": [call]}),
        json!({"id": "msg_1.1.7", "role": "assistant", "content": "More"}),
        json!({"id": "uuid", "role": "tool", "toolCallId": "c1", "content": "done"}),
    ]))
    .unwrap();
    let mut events = vec![start(), RunEvent::StepStart];
    events.extend(text(0, &["Done."]));
    events.push(finish());
    let sent = encode(&mut posted.encoder(), &events);
    assert_eq!((&sent[1]["stepName"], &sent[2]["messageId"]), (&json!("step-2"), &json!("msg_1.2.8")));
    // A seal of the client's own output belongs to the client's message.
    let seal = RunEvent::OutputSeal { call_id: "c1".into(), seal: "s".into() };
    let sent = encode(&mut posted.encoder(), &[start(), seal, finish()]);
    assert_eq!(sent[1]["entityId"], "uuid");
    // Another answer restarts the numbering.
    let other = RunEvent::Start { message_id: "msg_2".into(), metadata: None };
    events[0] = other;
    let sent = encode(&mut posted.encoder(), &events);
    assert_eq!((&sent[1]["stepName"], &sent[2]["messageId"]), (&json!("step-1"), &json!("msg_2")));
}

#[test]
fn comments_are_allowed_between_frames() {
    assert!(encoder(Version::V0).takes_comments());
}
