//! The frames of an agent tree, by bytes. Contract A.5, 1-9 and 21.

use omniassist_core::agent_tree::{
    CallQuery, CallResponse, ClientFrame, ContentPart, CoreMessage, Intervention, MessageContent, NodeState,
    OpenQuery, Requested, ResultPart, ServerFrame, Status,
};
use omniassist_core::{ErrorCode, JsonText, Usage};

const ID: &str = "0192f0a1-7c5e-7000-8000-0123456789ab";

fn read(text: &str) -> ClientFrame {
    ClientFrame::read(text).unwrap()
}

#[test]
fn a5_1_start_agent() {
    let frame = read(r#"{"type":"start-agent","prompt":"Compare"}"#);
    assert_eq!(frame, ClientFrame::StartAgent { prompt: "Compare".into() });
    // The order of the fields, and further ones, do not count.
    assert_eq!(read(r#" {"prompt":"Compare","id":1,"type":"start-agent"} "#), frame);
}

#[test]
fn a5_2_user_response() {
    let frame = read(&format!(r#"{{"type":"user-response","agentId":"{ID}","response":"2024"}}"#));
    assert_eq!(frame, ClientFrame::UserResponse { agent_id: ID.into(), response: "2024".into() });
}

#[test]
fn call_response() {
    let frame = |rest: &str| {
        read(&format!(r#"{{"type":"call-response","agentId":"{ID}","queryId":"q1","approved":{rest}}}"#))
    };
    let json = |text: &str| JsonText::parse(text).unwrap();
    let (approved, refused) = (CallResponse::approved(ID, "q1"), CallResponse::refused(ID, "q1"));
    for (rest, wanted) in [
        ("true", approved.clone()),
        (r#"true,"output":{"seats":2}"#, approved.clone().output(json(r#"{"seats":2}"#))),
        (r#"true,"arguments":{"cents":5}"#, approved.arguments(json(r#"{"cents":5}"#))),
        (r#"false,"reason":"no","output":null"#, refused.reason("no")),
    ] {
        assert_eq!(frame(rest), ClientFrame::CallResponse(wanted), "{rest}");
    }
}

#[test]
fn questions_about_calls_are_shown_to_clients_of_the_extended_protocol() {
    let mut approval =
        CallQuery::approval("c1".into(), "refund".into(), JsonText::parse("{}").unwrap(), true);
    approval.expires_at = 7;
    let form = CallQuery::form("c2".into(), "book".into(), JsonText::parse(r#"{"type":"object"}"#).unwrap());
    for (call, json) in [
        (approval, r#"{"toolCallId":"c1","toolName":"refund","input":{},"editable":true,"expiresAt":7}"#),
        (form, r#"{"toolCallId":"c2","toolName":"book","schema":{"type":"object"},"expiresAt":0}"#),
    ] {
        let mut state = state();
        state.queries = vec![OpenQuery::new("q1".into(), "Now?".into(), call.clone())];
        let shown = ServerFrame::state(state);
        let open = format!(r#","queries":[{{"queryId":"q1","prompt":"Now?","call":{json}}}]"#);
        let text = shown.to_numbered_json(1);
        assert!(text.contains(&open), "{text}");
        assert_eq!(shown.bare().to_json(), ServerFrame::state(self::state()).to_json());
        let written = text.split(r#""state":"#).nth(1).unwrap().strip_suffix(r#","seq":1}"#).unwrap();
        let read: NodeState = serde_json::from_str(written).unwrap();
        assert_eq!(read.queries[0].call, call, "a state is read as it was written");

        let (agent_id, query_id, call) = (ID.into(), Some("q1".into()), Some(Box::new(call)));
        let asked = ServerFrame::UserQuery { agent_id, prompt: "Now?".into(), query_id, call };
        let begin = format!(r#"{{"type":"user-query","agentId":"{ID}","prompt":"Now?""#);
        assert_eq!(asked.to_numbered_json(2), format!(r#"{begin},"queryId":"q1","call":{json},"seq":2}}"#));
        assert_eq!(asked.bare().to_json(), format!("{begin}}}"));
    }
}

#[test]
fn a5_3_user_intervention() {
    let whole = format!(
        r#"{{"type":"user-intervention","agentId":"{ID}","userComment":"Shorter","userContent":"Lamps","status":"paused"}}"#
    );
    let wanted = Intervention::of(ID).comment("Shorter").content("Lamps").status(Requested::Paused);
    assert_eq!(read(&whole), ClientFrame::UserIntervention(wanted.clone()));
    let object = whole.replace(r#""Shorter""#, r#"{"text":"Shorter"}"#);
    assert_eq!(read(&object), ClientFrame::UserIntervention(wanted));
    // Each field may be absent or null.
    for rest in ["", r#","userComment":null,"userContent":null,"status":null"#] {
        let text = format!(r#"{{"type":"user-intervention","agentId":"{ID}"{rest}}}"#);
        assert_eq!(read(&text), ClientFrame::UserIntervention(Intervention::of(ID)));
    }
    for (name, status) in [
        ("running", Requested::Running),
        ("completed", Requested::Completed),
        ("cancelled", Requested::Cancelled),
    ] {
        let text = format!(r#"{{"type":"user-intervention","agentId":"{ID}","status":"{name}"}}"#);
        assert_eq!(read(&text), ClientFrame::UserIntervention(Intervention::of(ID).status(status)));
    }
}

#[test]
fn a5_4_get_agent_tree() {
    assert_eq!(read(r#"{"type":"get-agent-tree"}"#), ClientFrame::GetAgentTree);
}

#[test]
fn a_frame_that_cannot_be_used_names_its_fault() {
    for (text, code, says) in [
        ("", ErrorCode::InvalidJson, "JSON"),
        ("{", ErrorCode::InvalidJson, "JSON"),
        (r#"{"type":"get-agent-tree"} x"#, ErrorCode::InvalidJson, "JSON"),
        ("[]", ErrorCode::InvalidRequest, "frame"),
        ("{}", ErrorCode::InvalidRequest, "type"),
        (r#"{"type":"stop"}"#, ErrorCode::InvalidRequest, "start-agent"),
        (r#"{"type":"start-agent"}"#, ErrorCode::InvalidRequest, "prompt"),
        (r#"{"type":"start-agent","prompt":7}"#, ErrorCode::InvalidRequest, "prompt"),
        (r#"{"type":"user-response","agentId":"a"}"#, ErrorCode::InvalidRequest, "response"),
        (r#"{"type":"user-intervention"}"#, ErrorCode::InvalidRequest, "agentId"),
        (
            r#"{"type":"user-intervention","agentId":"a","status":"gone"}"#,
            ErrorCode::InvalidRequest,
            "status",
        ),
        (r#"{"type":"user-intervention","agentId":"a","userComment":7}"#, ErrorCode::InvalidRequest, "text"),
    ] {
        let error = ClientFrame::read(text).unwrap_err();
        assert_eq!(error.code(), code, "{text}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

fn state() -> NodeState {
    let mut state = NodeState::begun(ID.into(), None, "Compare".into(), 1_795_359_600_000);
    (state.metadata.name, state.metadata.step) = ("explore".into(), 1);
    state
}

#[test]
fn a5_5_and_21_agent_state() {
    let wanted = format!(
        r#"{{"type":"agent-state","agentId":"{ID}","state":{{"agentId":"{ID}","parentId":null,"status":"running","userContent":"Compare","userComment":null,"subagents":[],"messages":[],"result":null,"metadata":{{"name":"explore","depth":0,"step":1}},"createdAt":1795359600000}}}}"#
    );
    assert_eq!(ServerFrame::state(state()).to_json(), wanted);

    let mut full = state();
    full.messages = vec![
        CoreMessage::User("Compare".into()),
        CoreMessage::Assistant(MessageContent::Parts(vec![
            ContentPart::Text { text: "I look.".into() },
            ContentPart::ToolCall {
                tool_call_id: "c1".into(),
                tool_name: "look".into(),
                args: JsonText::parse(r#"{"a":1}"#).unwrap(),
            },
        ])),
        CoreMessage::Tool(vec![ResultPart::new("c1".into(), "look".into(), JsonText::from_str_value("ok"))]),
        CoreMessage::Assistant(MessageContent::Text("Done.".into())),
    ];
    let messages = r#""messages":[{"role":"user","content":"Compare"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool-call","toolCallId":"c1","toolName":"look","args":{"a":1}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"look","result":"ok"}]},{"role":"assistant","content":"Done."}]"#;
    let text = ServerFrame::state(full).to_json();
    assert!(text.contains(messages), "{text}");

    let written = text.split(r#""state":"#).nth(1).unwrap().strip_suffix('}').unwrap();
    let read: NodeState = serde_json::from_str(written).unwrap();
    assert_eq!(ServerFrame::state(read).to_json(), text, "a state is read as it was written");

    for (status, name) in [
        (Status::Pending, "pending"),
        (Status::Running, "running"),
        (Status::WaitingForUser, "waiting-for-user"),
        (Status::Paused, "paused"),
        (Status::Completed, "completed"),
        (Status::Failed, "failed"),
        (Status::Cancelled, "cancelled"),
    ] {
        assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{name}\""));
    }
}

#[test]
fn a5_6_to_9_server_frames_bare_and_extended() {
    let usage: Usage = serde_json::from_str(r#"{"inputTokens":5,"outputTokens":2}"#).unwrap();
    let failed = match ServerFrame::error("no_such_query", "No question is open.") {
        ServerFrame::Error { error, code, .. } => {
            ServerFrame::Error { error, code, agent_id: Some(ID.into()) }
        }
        other => other,
    };
    let frames = [
        (
            ServerFrame::TextDelta { agent_id: ID.into(), delta: "<b>\n".into() },
            format!(r#"{{"type":"text-delta","agentId":"{ID}","delta":"<b>\n"}}"#),
            format!(r#"{{"type":"text-delta","agentId":"{ID}","delta":"<b>\n","seq":1}}"#),
        ),
        (
            ServerFrame::UserQuery {
                agent_id: ID.into(),
                prompt: "Which year?".into(),
                query_id: Some("q1".into()),
                call: None,
            },
            format!(r#"{{"type":"user-query","agentId":"{ID}","prompt":"Which year?"}}"#),
            format!(
                r#"{{"type":"user-query","agentId":"{ID}","prompt":"Which year?","queryId":"q1","seq":1}}"#
            ),
        ),
        (
            ServerFrame::AgentCompleted {
                agent_id: Some(ID.into()),
                result: Some("Both.".into()),
                usage: Some(usage),
            },
            r#"{"type":"agent-completed"}"#.to_owned(),
            format!(
                r#"{{"type":"agent-completed","agentId":"{ID}","result":"Both.","usage":{{"inputTokens":5,"outputTokens":2}},"seq":1}}"#
            ),
        ),
        (
            failed,
            r#"{"type":"error","error":"No question is open."}"#.to_owned(),
            format!(
                r#"{{"type":"error","error":"No question is open.","code":"no_such_query","agentId":"{ID}","seq":1}}"#
            ),
        ),
        (
            ServerFrame::AgentTree { agent_ids: vec![ID.into()] },
            format!(r#"{{"type":"agent-tree","agentIds":["{ID}"]}}"#),
            format!(r#"{{"type":"agent-tree","agentIds":["{ID}"],"seq":1}}"#),
        ),
    ];
    for (frame, bare, extended) in frames {
        assert_eq!(frame.to_numbered_json(1), extended);
        assert_eq!(frame.bare().to_json(), bare);
    }
}
