//! Agents that a run asks, for clients of both versions.

use omniassist_core::event::{AgentDelta, AgentState, AgentStatus, FinishReason, Usage};

use super::*;

fn state(id: &'static str, parent: Option<&'static str>, status: AgentStatus) -> RunEvent {
    let mut state = AgentState::begun(id.into(), "researcher".into(), "call_1".into(), "Look".into());
    (state.parent_id, state.status) = (parent.map(Text::from_static), status);
    if status != AgentStatus::Running {
        (state.reason, state.text) = (Some("tokens".into()), Some("Found.".into()));
    }
    RunEvent::AgentState(Box::new(state))
}

fn writes(id: &'static str, delta: &'static str) -> RunEvent {
    RunEvent::AgentDelta { agent_id: id.into(), delta: AgentDelta::Text { delta: delta.into() } }
}

fn begin() -> RunEvent {
    RunEvent::Start { message_id: "msg_1".into(), metadata: None }
}

fn end() -> RunEvent {
    RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() }
}

/// Returns the type, the sub-run and the parent of each event.
fn outline(version: Version, events: &[RunEvent]) -> Vec<String> {
    let shown = |event: Value| {
        let words = ["type", "subagentRunId", "parentSubagentRunId", "delta", "code", "name", "activityType"];
        let words = words.iter().filter_map(|key| event[*key].as_str());
        words.collect::<Vec<_>>().join(" ")
    };
    frames(&encode_bytes(&mut encoder(version), events)).into_iter().map(shown).collect()
}

#[test]
fn an_agent_is_a_sub_run_that_is_closed_before_its_parent() {
    let events = [
        begin(),
        state("a", None, AgentStatus::Running),
        writes("a", "I "),
        state("b", Some("a"), AgentStatus::Running),
        writes("b", "Deep"),
        writes("a", "look"),
        state("b", Some("a"), AgentStatus::Failed),
        state("a", None, AgentStatus::Completed),
        end(),
    ];
    let expected = [
        "RUN_STARTED",
        "SUBAGENT_STARTED a researcher",
        "TEXT_MESSAGE_START a",
        "TEXT_MESSAGE_CONTENT a I ",
        "SUBAGENT_STARTED b a researcher",
        "TEXT_MESSAGE_START b",
        "TEXT_MESSAGE_CONTENT b Deep",
        "TEXT_MESSAGE_CONTENT a look",
        "TEXT_MESSAGE_END b",
        "SUBAGENT_ERROR b tokens",
        "TEXT_MESSAGE_END a",
        "SUBAGENT_FINISHED a",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(Version::V1, &events), expected);
}

/// The protocol withdraws no text of a sub-run.
#[test]
fn an_agent_that_begins_anew_has_another_message() {
    let events = [
        begin(),
        state("a", None, AgentStatus::Running),
        writes("a", "I l"),
        state("a", None, AgentStatus::Running),
        writes("a", "I looked"),
        state("a", None, AgentStatus::Completed),
        end(),
    ];
    let shown = frames(&encode_bytes(&mut encoder(Version::V1), &events));
    let messages = shown.iter().map(|event| [&event["type"], &event["messageId"]]);
    let messages: Vec<_> = messages.filter(|[_, id]| id.is_string()).map(|pair| json!(pair)).collect();
    let expected = [
        json!(["TEXT_MESSAGE_START", "a"]),
        json!(["TEXT_MESSAGE_CONTENT", "a"]),
        json!(["TEXT_MESSAGE_END", "a"]),
        json!(["TEXT_MESSAGE_START", "a-2"]),
        json!(["TEXT_MESSAGE_CONTENT", "a-2"]),
        json!(["TEXT_MESSAGE_END", "a-2"]),
    ];
    assert_eq!(messages, expected);
    let begun = shown.iter().filter(|event| event["type"] == "SUBAGENT_STARTED").count();
    assert_eq!(begun, 1);
}

#[test]
fn agents_at_work_are_closed_when_the_run_ends() {
    let ends = [
        RunEvent::Abort { reason: "stopped".into() },
        RunEvent::Error { code: omniassist_core::event::RunErrorCode::Timeout, message: "late".into() },
        end(),
    ];
    for end in ends {
        let events = [
            begin(),
            state("a", None, AgentStatus::Running),
            state("b", Some("a"), AgentStatus::Running),
            writes("b", "Deep"),
            end,
        ];
        let outline = outline(Version::V1, &events);
        let closed = &outline[outline.len() - 4..outline.len() - 1];
        assert_eq!(closed, ["TEXT_MESSAGE_END b", "SUBAGENT_ERROR b stopped", "SUBAGENT_ERROR a stopped"]);
    }
}

/// A client that came back in the middle of an answer has not seen the agent begin.
#[test]
fn an_agent_that_has_not_begun_here_opens_no_sub_run() {
    let events = [
        begin(),
        writes("a", "late"),
        state("b", Some("a"), AgentStatus::Running),
        state("a", None, AgentStatus::Completed),
        state("b", Some("a"), AgentStatus::Incomplete),
        end(),
    ];
    let expected = [
        "RUN_STARTED",
        "CUSTOM agent-delta",
        "SUBAGENT_STARTED b researcher",
        "SUBAGENT_FINISHED b",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(Version::V1, &events), expected);
}

/// Clients of 0.0.59 end the run at events that they do not know.
#[test]
fn an_agent_is_an_activity_for_an_earlier_client() {
    let events = [
        begin(),
        state("a", None, AgentStatus::Running),
        writes("a", "I look"),
        state("a", None, AgentStatus::Completed),
        end(),
    ];
    let expected = [
        "RUN_STARTED",
        "ACTIVITY_SNAPSHOT omniassist-agent",
        "CUSTOM agent-delta",
        "ACTIVITY_SNAPSHOT omniassist-agent",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(Version::V0, &events), expected);
}
