//! The events of an agent as its client gets them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use omniassist_core::event::{AgentDelta, AgentState};
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{RunEvent, Text};
use uuid::Uuid;

use crate::tool::{AgentAsk, AgentReport, cap_text};

/// The bytes of a task and of an answer that the client is shown. The call has both.
const SHOWN: usize = 4 * 1024;

/// An agent at work, as its client sees it. The client does not see the call of a tool that another tool makes, except for
/// what it sends the client.
pub(super) struct ShownAgent {
    state: Box<AgentState>,
    is_inner: bool,
}

impl ShownAgent {
    /// Creates an agent that begins, or goes on with its earlier id.
    pub(super) fn new(ask: &AgentAsk, id: Option<Text>, parent_id: Option<Text>, depth: u32) -> Self {
        let id = id.unwrap_or_else(new_id);
        let mut state = AgentState::begun(id, ask.agent.clone(), ask.call_id.clone(), cut(&ask.task));
        (state.parent_id, state.depth) = (parent_id, depth);
        Self { state: Box::new(state), is_inner: ask.inner.is_some() }
    }

    pub(super) fn agent_id(&self) -> &Text {
        &self.state.agent_id
    }

    /// Returns the id of the agent's run. It belongs to the id of the agent, so that the idempotency keys of its calls stay
    /// the same when it goes on.
    pub(super) fn run_id(&self) -> Uuid {
        let bytes = URL_SAFE_NO_PAD.decode(self.agent_id().as_str()).ok();
        let random = bytes.and_then(|bytes| <[u8; 12]>::try_from(bytes).ok());
        random.map_or_else(Uuid::now_v7, |[a, b, c, d, rest @ ..]| {
            let [e, f, g, h, i, j, k, l] = rest;
            Uuid::from_bytes([0, 0, 0, 0, a, b, c, d, e, f, g, h, i, j, k, l])
        })
    }

    /// Returns the call whose tool asked.
    pub(super) fn call_id(&self) -> &Text {
        &self.state.tool_call_id
    }

    pub(super) fn is_inner(&self) -> bool {
        self.is_inner
    }

    /// Returns the event of the agent's beginning.
    pub(super) fn began(&self) -> Option<RunEvent> {
        (!self.is_inner).then(|| RunEvent::AgentState(self.state.clone()))
    }

    /// Returns the event of the agent's end.
    pub(super) fn ended(mut self, report: &AgentReport) -> RunEvent {
        let state = &mut self.state;
        (state.status, state.reason) = (report.status, report.reason.clone());
        (state.text, state.usage) = (Some(cut(&report.result)), Some(report.usage));
        RunEvent::AgentState(self.state)
    }

    /// Returns the event that shows one of the agent's own, if the client is shown it. Events that tools of the host
    /// send, and those of the agents below, pass unchanged.
    pub(super) fn event(&self, event: RunEvent) -> Option<RunEvent> {
        let delta = match event {
            RunEvent::TextDelta { delta, .. } => AgentDelta::Text { delta },
            // The call of an agent below, which has shown it.
            RunEvent::ToolInputAvailable { metadata: Some(metadata), .. }
                if metadata.own_text(ProviderMetadata::AGENT).is_some() =>
            {
                return None;
            }
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                AgentDelta::ToolCall { tool_call_id: call_id, tool_name: name, input }
            }
            RunEvent::ToolOutput { call_id, preliminary: false, .. } => {
                AgentDelta::ToolEnd { tool_call_id: call_id, failed: false }
            }
            RunEvent::ToolError { call_id, .. } | RunEvent::ToolRefused { call_id, .. } => {
                AgentDelta::ToolEnd { tool_call_id: call_id, failed: true }
            }
            RunEvent::Data { .. }
            | RunEvent::ActivitySnapshot { .. }
            | RunEvent::StateDelta(_)
            | RunEvent::Component(_)
            | RunEvent::AgentState(_)
            | RunEvent::AgentDelta { .. } => {
                return Some(event);
            }
            _ => return None,
        };
        if self.is_inner {
            return None;
        }
        Some(RunEvent::AgentDelta { agent_id: self.agent_id().clone(), delta })
    }
}

/// Returns a new id. Each delta repeats it, so it is short: the random part of a UUID, with the last 16 bits of the time.
fn new_id() -> Text {
    let [_, _, _, _, random @ ..] = Uuid::now_v7().into_bytes();
    URL_SAFE_NO_PAD.encode(random).into()
}

/// Returns a task or an answer as the client is shown it.
pub(in crate::engine) fn cut(text: &Text) -> Text {
    if text.len() <= SHOWN { text.clone() } else { cap_text(text, SHOWN).into() }
}

/// Puts a state in place of the earlier one of the same agent, or at the end.
pub(in crate::engine) fn keep_latest(states: &mut Vec<AgentState>, state: AgentState) {
    match states.iter_mut().find(|known| known.agent_id == state.agent_id) {
        Some(known) => *known = state,
        None => states.push(state),
    }
}
