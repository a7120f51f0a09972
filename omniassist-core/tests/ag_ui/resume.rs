//! Tests of interrupts and of the requests that resume them.

use omniassist_core::dialect::ag_ui::{Posted, Version};
use omniassist_core::event::{ApprovalRequest, BlockId, FinishReason, InputRequest, Usage};
use omniassist_core::message::{Part, ToolState};
use omniassist_core::{Error, JsonText, Result, RunEvent};
use serde_json::{Value, json};

use super::client::Client;
use super::{encode, encoder, protocol, read, with};

fn call(call_id: &str) -> Vec<RunEvent> {
    let (id, name) = (omniassist_core::Text::from(call_id), omniassist_core::Text::from_static("refund"));
    vec![
        RunEvent::ToolInputStart { call_id: id.clone(), name: name.clone(), title: None, app: None },
        RunEvent::ToolInputAvailable {
            call_id: id,
            name,
            input: JsonText::parse(r#"{"order":17}"#).unwrap(),
            provider_executed: false,
            metadata: Some(serde_json::from_str(r#"{"openai":{"itemId":"fc_1"}}"#).unwrap()),
        },
    ]
}

fn approval(call_id: &str) -> ApprovalRequest {
    let input = JsonText::parse(r#"{"order":17}"#).unwrap();
    let mut request = ApprovalRequest::new(call_id.into(), "refund".into(), input);
    request.signature = Some("v1.k1.mac".into());
    request.message = Some("Refund order 17?".into());
    request.expires_at_ms = Some(1_763_778_030_123);
    request.editable = true;
    request
}

fn form(call_id: &str) -> InputRequest {
    let schema = JsonText::parse(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#).unwrap();
    InputRequest::new(call_id.into(), Some("Who are you?".into()), schema)
}

fn finish() -> RunEvent {
    RunEvent::Finish { reason: FinishReason::ToolCalls, usage: Usage::default() }
}

fn start() -> RunEvent {
    RunEvent::Start { message_id: "msg_1".into(), metadata: None }
}

/// Returns a client whose last run requested approval of `c~1` and form input in `c2`.
fn interrupted(version: Version) -> (Client, Value) {
    let mut events = vec![start(), RunEvent::StepStart];
    events.extend(call("c~1"));
    events.push(RunEvent::ToolApprovalRequest(approval("c~1")));
    events.extend(call("c2"));
    events.push(RunEvent::InputRequest(form("c2")));
    events.push(RunEvent::StepFinish { reason: FinishReason::ToolCalls, usage: Usage::default() });
    events.push(finish());
    let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Refund order 17"})]);
    let sent = encode(&mut encoder(version), &events);
    protocol::check(version, &client.messages, &sent);
    client.apply_all(&sent);
    (client, sent.last().unwrap()["outcome"].clone())
}

fn resume(client: &Client, entries: &Value) -> Result<Posted> {
    read(&with(json!({"messages": client.messages, "resume": entries})))
}

fn approve(payload: &Value) -> Value {
    json!({"interruptId": "approval-c~1~v1.k1.mac", "status": "resolved", "payload": payload})
}

fn fill() -> Value {
    json!({"interruptId": "input-c2", "status": "resolved", "payload": {"name": "Ada"}})
}

fn state<'a>(posted: &'a Posted, call_id: &str) -> &'a ToolState {
    let message = posted.request.messages.last().unwrap();
    &message.tools().find(|part| part.call_id == call_id).unwrap().state
}

#[test]
fn run_finished_lists_the_open_interrupts() {
    for version in [Version::V0, Version::V1] {
        let (_, mut outcome) = interrupted(version);
        let expiry = outcome["interrupts"][0].as_object_mut().unwrap().remove("expiresAt");
        let reason = if version == Version::V1 { "tool_call" } else { "confirmation" };
        // A client before 1.0 cannot cancel an expired interrupt.
        assert_eq!(expiry, (version == Version::V1).then(|| json!("2025-11-22T02:20:30.123Z")));
        assert_eq!(
            outcome,
            json!({"type": "interrupt", "interrupts": [
                {
                    "id": "approval-c~1~v1.k1.mac", "reason": reason, "message": "Refund order 17?",
                    "toolCallId": "c~1",
                    "responseSchema": {
                        "type": "object", "required": ["approved"],
                        "properties": {
                            "approved": {"type": "boolean"}, "reason": {"type": "string"},
                            "editedArgs": {"type": "object"},
                        },
                    },
                },
                {
                    "id": "input-c2", "reason": "input_required", "message": "Who are you?", "toolCallId": "c2",
                    "responseSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
            ]})
        );
    }
}

/// A client keeps the interrupts of a resumed run open until a run finishes.
#[test]
fn a_stopped_resumed_run_sends_run_finished() {
    for version in [Version::V0, Version::V1] {
        let (client, _) = interrupted(version);
        let told = (version == Version::V1).then_some("1.0");
        let entries = json!([approve(&json!(true)), fill()]);
        let body = json!({"messages": client.messages, "resume": entries, "protocolVersion": told});
        let posted = read(&with(body)).unwrap();
        assert_eq!(posted.version, version);
        let events = [start(), RunEvent::Abort { reason: "The user left.".into() }];
        let sent = encode(&mut posted.encoder(), &events);
        protocol::check(posted.version, &client.messages, &sent);
        let last = sent.last().unwrap();
        assert_eq!(last["type"], "RUN_FINISHED");
        assert_eq!(last["metadata"], json!({"omniassist": {"abortReason": "The user left."}}));
        let cancelled = (posted.version == Version::V1).then(|| json!({"type": "cancelled"}));
        assert_eq!(last.get("outcome"), cancelled.as_ref());
    }
}

#[test]
fn unanswered_approvals_stay_open() {
    let (client, _) = interrupted(Version::V1);
    let posted = read(&with(json!({"messages": client.messages}))).unwrap();
    let ToolState::ApprovalRequested { input, approval } = state(&posted, "c~1") else { panic!() };
    assert_eq!(input.as_str(), r#"{"order":17}"#);
    assert_eq!(json!(approval), json!({"id": "approval-c~1", "signature": "v1.k1.mac"}));
    assert!(matches!(state(&posted, "c2"), ToolState::InputAvailable { .. }));
    let part = posted.request.messages[1].tools().next().unwrap();
    assert_eq!(serde_json::to_value(&part.metadata).unwrap(), json!({"openai": {"itemId": "fc_1"}}));
}

#[test]
fn answers_are_read_in_every_form() {
    let base = json!({"id": "approval-c~1", "signature": "v1.k1.mac"});
    let merged = |more: Value| {
        let mut whole = base.clone();
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    let answers = [
        (json!(true), json!({"approved": true})),
        (json!(false), json!({"approved": false})),
        (json!({"approved": true}), json!({"approved": true})),
        (json!({"approved": false, "reason": "No"}), json!({"approved": false, "reason": "No"})),
        (
            json!({"approved": true, "editedArgs": {"order": 18}}),
            json!({"approved": true, "arguments": {"order": 18}}),
        ),
        (
            json!({"approved": true, "arguments": {"order": 18}, "more": 1}),
            json!({"approved": true, "arguments": {"order": 18}}),
        ),
        (json!({"approved": false, "arguments": {"order": 18}}), json!({"approved": false})),
    ];
    let (client, _) = interrupted(Version::V1);
    for (payload, expected) in answers {
        let posted = resume(&client, &json!([approve(&payload), fill()])).unwrap();
        let ToolState::ApprovalResponded { input, approval } = state(&posted, "c~1") else {
            panic!("{payload}")
        };
        assert_eq!((input.as_str(), json!(approval)), (r#"{"order":17}"#, merged(expected)));
        let ToolState::OutputAvailable { output, .. } = state(&posted, "c2") else { panic!() };
        assert_eq!(output.as_str(), r#"{"name":"Ada"}"#);
    }
    let cancelled = json!([
        {"interruptId": "input-c2", "status": "cancelled"},
        {"interruptId": "approval-c~1~v1.k1.mac", "status": "cancelled"},
    ]);
    let posted = resume(&client, &cancelled).unwrap();
    let ToolState::ApprovalResponded { approval, .. } = state(&posted, "c~1") else { panic!() };
    assert_eq!(json!(approval), merged(json!({"approved": false})));
    let ToolState::OutputError { error_text, .. } = state(&posted, "c2") else { panic!() };
    assert_eq!(error_text, "The user cancelled the form.");
}

#[test]
fn the_signature_follows_the_last_tilde() {
    let (client, _) = interrupted(Version::V1);
    let mut entry = approve(&json!(true));
    entry["interruptId"] = "approval-c~1~".into();
    let posted = resume(&client, &json!([entry, fill()])).unwrap();
    let ToolState::ApprovalResponded { approval, .. } = state(&posted, "c~1") else { panic!() };
    assert_eq!(json!(approval), json!({"id": "approval-c~1", "approved": true}));
}

#[test]
fn answers_without_an_open_interrupt_are_rejected() {
    let (client, _) = interrupted(Version::V1);
    let with_id = |id: &str| json!([{"interruptId": id, "status": "resolved", "payload": true}, fill()]);
    let wrong = [
        (with_id("approval-c1~x"), "resume[0].interruptId"),
        (with_id("approval-c2~x"), "resume[0].interruptId"),
        (with_id("input-c~1"), "resume[0].interruptId"),
        (with_id("approval-c~1"), "resume[0].interruptId"),
        (with_id("int-1"), "resume[0].interruptId"),
        (with_id(""), "resume[0].interruptId"),
        (json!([approve(&json!(true)), approve(&json!(false)), fill()]), "resume[1].interruptId"),
        (json!([approve(&json!(true))]), "resume"),
        (json!([fill()]), "resume"),
        (json!([5]), "resume[0]"),
        (json!([{"status": "resolved"}]), "resume[0].interruptId"),
        (json!([{"interruptId": "input-c2", "payload": {}}]), "resume[0].status"),
        (json!([{"interruptId": "input-c2", "status": "done", "payload": {}}]), "resume[0].status"),
        (json!([{"interruptId": "input-c2", "status": "resolved"}]), "resume[0].payload"),
        (json!([approve(&json!(null)), fill()]), "resume[0].payload"),
        (json!([approve(&json!("yes")), fill()]), "resume[0].payload"),
        (json!([approve(&json!({})), fill()]), "resume[0].payload.approved"),
        (json!([approve(&json!({"approved": "true"})), fill()]), "resume[0].payload.approved"),
        (
            json!([approve(&json!({"approved": true, "editedArgs": 5})), fill()]),
            "resume[0].payload.editedArgs",
        ),
        (json!([approve(&json!({"approved": true, "reason": 5})), fill()]), "resume[0].payload.reason"),
    ];
    for (entries, path) in wrong {
        let error = resume(&client, &entries).unwrap_err();
        assert_eq!(error.path(), Some(path), "{entries}");
    }
    let open = resume(&client, &json!([approve(&json!(true))])).unwrap_err();
    assert!(open.expected().unwrap().contains("`c2`"), "{open}");
}

#[test]
fn only_the_last_answer_can_be_resumed() {
    let (mut client, _) = interrupted(Version::V1);
    let entries = json!([approve(&json!(true)), fill()]);
    client.messages.push(json!({"id": "msg_2", "role": "assistant", "content": "Later answer"}));
    let error = resume(&client, &entries).unwrap_err();
    assert_eq!(error.path(), Some("resume[0].interruptId"));
}

/// A client sends a message written during an interrupt together with the answer to the interrupt.
#[test]
fn a_message_sent_during_an_interrupt_precedes_the_continued_answer() {
    for version in [Version::V0, Version::V1] {
        let (mut client, _) = interrupted(version);
        for (id, role) in [("u2", "user"), ("s2", "system")] {
            client.messages.push(json!({"id": id, "role": role, "content": "And be quick"}));
        }
        let posted = resume(&client, &json!([approve(&json!(true)), fill()])).unwrap();
        assert_eq!(ids(&posted), ["u1", "u2", "s2", "msg_1"]);
        assert!(matches!(state(&posted, "c~1"), ToolState::ApprovalResponded { .. }));
        let located = |path: &str| posted.locate(Error::seal_invalid(path)).path().unwrap().to_owned();
        assert_eq!(
            [located("messages[1].parts[0]"), located("messages[3].parts[1]")],
            ["messages[2]", "messages[1]"]
        );

        let text = |number: u32, delta: &str| {
            let id = BlockId(number);
            let start = RunEvent::TextStart { id };
            [start, RunEvent::TextDelta { id, delta: delta.into() }, RunEvent::TextEnd { id, metadata: None }]
        };
        let mut events = vec![start(), output("c~1"), RunEvent::StepStart];
        events.extend(text(0, "Done,"));
        events.extend(text(1, " and quickly."));
        events.push(finish());
        let sent = encode(&mut posted.encoder(), &events);
        protocol::check(posted.version, &client.messages, &sent);
        client.apply_all(&sent);
        client.messages.push(json!({"id": "u3", "role": "user", "content": "Thanks"}));
        let posted = read(&with(json!({"messages": client.messages}))).unwrap();
        assert_eq!(ids(&posted), ["u1", "u2", "s2", "msg_1", "u3"]);
        let answer = &posted.request.messages[3];
        assert_eq!(answer.text(), "Done, and quickly.");
        assert_eq!(answer.parts.iter().filter(|part| matches!(part, Part::StepStart)).count(), 2);
        let states: Vec<_> = answer.tools().map(|part| &part.state).collect();
        assert!(states.iter().all(|state| matches!(state, ToolState::OutputAvailable { .. })), "{states:?}");
    }
}

fn ids(posted: &Posted) -> Vec<&str> {
    posted.request.messages.iter().map(|message| message.id.as_str()).collect()
}

/// CopilotKit writes the decision as a result of the call, in addition to resuming the interrupt.
#[test]
fn a_decision_is_not_a_result() {
    let (mut client, _) = interrupted(Version::V0);
    let decided = json!({"id": "x", "role": "tool", "toolCallId": "c~1", "content": "{\"approved\":true}"});
    client.insert_result(&"c~1".into(), decided);
    let posted = resume(&client, &json!([approve(&json!(true)), fill()])).unwrap();
    assert!(matches!(state(&posted, "c~1"), ToolState::ApprovalResponded { .. }));
    // The result of the tool replaces it.
    let sent = encode(&mut posted.encoder(), &[start(), output("c~1"), finish()]);
    client.apply_all(&sent);
    let posted = read(&with(json!({"messages": client.messages}))).unwrap();
    let ToolState::OutputAvailable { output, .. } = state(&posted, "c~1") else { panic!() };
    assert_eq!(output.as_str(), r#""refunded""#);
}

fn output(call_id: &str) -> RunEvent {
    let (call_id, output) = (call_id.into(), JsonText::from_str_value("refunded"));
    RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false }
}

#[test]
fn a_resumed_run_writes_results_for_settled_calls() {
    for version in [Version::V0, Version::V1] {
        let (mut client, _) = interrupted(version);
        let posted = resume(&client, &json!([approve(&json!(true)), fill()])).unwrap();
        let events = [
            start(),
            output("c~1"),
            RunEvent::OutputSeal { call_id: "c~1".into(), seal: "s1".into() },
            RunEvent::OutputSeal { call_id: "c2".into(), seal: "s2".into() },
            RunEvent::StepStart,
            finish(),
        ];
        let sent = encode(&mut posted.encoder(), &events);
        protocol::check(posted.version, &client.messages, &sent);
        client.apply_all(&sent);
        let posted = read(&with(json!({"messages": client.messages}))).unwrap();
        for (call_id, json) in [("c~1", r#""refunded""#), ("c2", r#"{"name":"Ada"}"#)] {
            let ToolState::OutputAvailable { output, .. } = state(&posted, call_id) else {
                panic!("{call_id}")
            };
            assert_eq!(output.as_str(), json);
        }
        let metadata = posted.request.messages[1].metadata.clone().unwrap();
        assert_eq!(metadata, json!({"omniassist": {"seals": {"c~1": "s1", "c2": "s2"}}}));
    }
}

#[test]
fn a_form_receives_its_result_without_another_event() {
    let (client, _) = interrupted(Version::V1);
    let entries = json!([approve(&json!(false)), fill()]);
    let results = |events: &[RunEvent]| {
        let posted = resume(&client, &entries).unwrap();
        let sent = encode(&mut posted.encoder(), events);
        protocol::check(Version::V0, &client.messages, &sent);
        let results = sent.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT");
        results
            .filter(|event| event["toolCallId"] == "c2")
            .map(|event| (event["content"].as_str().unwrap().to_owned(), event["metadata"].clone()))
            .collect::<Vec<_>>()
    };
    let note = |result: &str| json!({"omniassist": {"result": result}});
    let given = vec![(r#"{"name":"Ada"}"#.to_owned(), note("output"))];
    assert_eq!(results(&[start(), RunEvent::StepStart, finish()]), given);
    assert_eq!(results(&[start(), finish()]), given);
    let refused = RunEvent::ToolError {
        call_id: "c2".into(),
        error_text: "No such name.".into(),
        provider_executed: false,
    };
    let told = vec![("No such name.".to_owned(), note("error"))];
    assert_eq!(results(&[start(), refused, RunEvent::StepStart, finish()]), told);
    assert_eq!(results(&[start(), RunEvent::InputRequest(form("c2")), finish()]), []);
}

#[test]
fn a_repeated_interrupt_keeps_the_state_of_its_call() {
    let (mut client, _) = interrupted(Version::V1);
    let posted = read(&with(json!({"messages": client.messages}))).unwrap();
    let mut again = approval("c~1");
    again.signature = Some("v1.k2.mac".into());
    let sent = encode(&mut posted.encoder(), &[start(), RunEvent::ToolApprovalRequest(again), finish()]);
    client.apply_all(&sent);
    let posted = read(&with(json!({"messages": client.messages}))).unwrap();
    let ToolState::ApprovalRequested { approval, .. } = state(&posted, "c~1") else { panic!() };
    assert_eq!(approval.signature.as_deref(), Some("v1.k2.mac"));
    let part = posted.request.messages[1].tools().next().unwrap();
    assert_eq!(serde_json::to_value(&part.metadata).unwrap(), json!({"openai": {"itemId": "fc_1"}}));
}

#[test]
fn a_denied_call_contains_the_reason() {
    let (mut client, _) = interrupted(Version::V1);
    let posted = resume(&client, &json!([approve(&json!(false)), fill()])).unwrap();
    for (reason, approval) in [
        (Some("Too much."), json!({"id": "approval-c~1", "approved": false, "reason": "Too much."})),
        (None, json!({"id": "approval-c~1", "approved": false})),
    ] {
        let denied = RunEvent::ToolDenied { call_id: "c~1".into(), reason: reason.map(Into::into) };
        let mut client = client.clone();
        client.apply_all(&encode(&mut posted.encoder(), &[start(), denied, finish()]));
        let posted = read(&with(json!({"messages": client.messages}))).unwrap();
        let ToolState::OutputDenied { approval: kept, .. } = state(&posted, "c~1") else { panic!() };
        assert_eq!(json!(kept), approval);
    }
    client.messages.clear();
}
