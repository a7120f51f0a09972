//! The calls of an asked agent that wait for the user.

use omniassist_core::message::{Message, MessageCollector, Part, ProviderMetadata, ToolPart, ToolState};
use omniassist_core::{JsonText, Limits, RunEvent, Text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::agent_records::WaitingAgent;
use crate::seal::Sealer;
use crate::tool::{AskingCall, InnerEnd};

/// The most bytes of the state of an agent that waits.
const LARGEST: usize = 64 * 1024;

/// An agent that waited for the user, with its answers.
#[derive(Debug)]
pub(in crate::engine) struct Suspended {
    pub(in crate::engine) agent_id: Text,
    /// The message of the agent, with the calls that waited.
    pub(in crate::engine) message: Message,
    /// Calls whose answer is not accepted.
    pub(in crate::engine) unaccepted: Vec<Text>,
}

/// A call whose state a client has kept.
#[derive(Debug)]
pub(in crate::engine) struct KeptCall {
    pub(in crate::engine) tool: Text,
    pub(in crate::engine) arguments: JsonText,
    pub(in crate::engine) suspended: Suspended,
}

/// The form in which a client keeps the state of a call: its tool and its arguments as it ran, and the message of the agent.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    tool: Text,
    arguments: JsonText,
    #[serde(rename = "agentId")]
    agent_id: Text,
    #[serde(borrow)]
    messages: &'a RawValue,
}

impl From<WaitingAgent> for Suspended {
    fn from(WaitingAgent { agent_id, message }: WaitingAgent) -> Self {
        Self { agent_id, message, unaccepted: Vec::new() }
    }
}

impl Suspended {
    /// Reads the state that [`Asking::into_questions`] has written. Returns `None` for any other.
    pub(in crate::engine) fn read(state: &[u8], limits: &Limits) -> Option<KeptCall> {
        let Kept { tool, arguments, agent_id, messages } = serde_json::from_slice(state).ok()?;
        let messages = omniassist_core::message::read::messages(&messages.get().into(), limits).ok()?;
        let [message] = <[Message; 1]>::try_from(messages).ok()?;
        let suspended = Self { agent_id, message, unaccepted: Vec::new() };
        Some(KeptCall { tool, arguments, suspended })
    }

    /// Takes the answers of the user to the calls of the agent, which a call has asked.
    pub(in crate::engine) fn answer(&mut self, asked_by: &Text, asked: &[ToolPart], unaccepted: &[Text]) {
        for part in &mut self.message.parts {
            let Part::Tool(open) = part else { continue };
            let answered = asked
                .iter()
                .find(|call| call.call_id == open.call_id && call.asked_by() == Some(asked_by.as_str()));
            if let Some(answered) = answered.filter(|_| !open.state.is_answered()) {
                open.state = answered.state.clone();
                if unaccepted.contains(&open.call_id) {
                    self.unaccepted.push(open.call_id.clone());
                }
            }
        }
    }
}

/// An agent that may wait for the user.
pub(super) struct Asking {
    /// `None` if nothing may wait.
    sealer: Option<Sealer>,
    /// The call that asked.
    call: Option<AskingCall>,
    /// `true` if the journal has the state.
    is_stored: bool,
    written: MessageCollector,
    /// The calls that have no result, with the events that show them.
    open: Vec<(Text, Vec<RunEvent>)>,
    /// The calls that waited earlier. The client shows them as those of the run.
    shown: Vec<Text>,
    /// `true` if the server made an error of a call.
    has_failed: bool,
    /// `true` for a call that a tool makes while another one of the same call is open.
    is_beside: bool,
}

impl Asking {
    /// Creates the state of an agent that begins, or that goes on with a message.
    pub(super) fn new(
        sealer: Option<Sealer>,
        call: Option<AskingCall>,
        continued: Option<&Message>,
        is_stored: bool,
    ) -> Self {
        let (mut open, mut shown) = (Vec::new(), Vec::new());
        let calls = || continued.into_iter().flat_map(Message::tools);
        // A call that has asked waits with the call that it has asked for.
        let has_asked = |call: &ToolPart| calls().any(|other| other.asked_by() == Some(&call.call_id));
        for call in calls().filter(|call| !has_asked(call)) {
            let input = match &call.state {
                ToolState::InputAvailable { input } | ToolState::ApprovalRequested { input, .. } => {
                    input.clone()
                }
                // An answer may not fit its form, or may come too late.
                ToolState::ApprovalResponded { .. }
                | ToolState::OutputAvailable { .. }
                | ToolState::OutputError { .. } => {
                    shown.push(call.call_id.clone());
                    continue;
                }
                _ => continue,
            };
            let (call_id, name) = (call.call_id.clone(), call.name.clone());
            let metadata = call.metadata.clone();
            shown.push(call_id.clone());
            let event = RunEvent::ToolInputAvailable {
                call_id: call_id.clone(),
                name,
                input,
                provider_executed: false,
                metadata,
            };
            open.push((call_id, vec![event]));
        }
        let written = continued
            .map_or_else(MessageCollector::new, |message| MessageCollector::continuing(message.clone()));
        Self { sealer, call, is_stored, written, open, shown, has_failed: false, is_beside: false }
    }

    /// Returns `true` if the client shows an event as one of the run: the end of a call that waited.
    pub(super) fn is_shown(&self, event: &RunEvent) -> bool {
        match event {
            RunEvent::ToolOutput { call_id, .. }
            | RunEvent::ToolError { call_id, .. }
            | RunEvent::ToolDenied { call_id, .. } => self.shown.contains(call_id),
            _ => false,
        }
    }

    /// Makes the questions of a call an error: the tool has another call open, and a state can hold one only.
    pub(super) fn forbid_beside(&mut self) {
        self.sealer = None;
        self.is_beside = true;
    }

    /// Returns `true` if the call may not wait because of another one.
    pub(super) fn is_beside(&self) -> bool {
        self.is_beside
    }

    /// Reads an event of the agent.
    pub(super) fn take(&mut self, event: &RunEvent) {
        self.written.apply(event);
        self.has_failed |= matches!(
            event,
            RunEvent::ToolError { .. } | RunEvent::ToolRefused { .. } | RunEvent::ToolInputError { .. }
        );
        match event {
            RunEvent::ToolInputAvailable { call_id, provider_executed: false, metadata, .. } => {
                let asked_by = metadata.as_ref().and_then(asked_by);
                self.open.retain(|(open, _)| open != call_id && asked_by != Some(open.as_str()));
                self.open.push((call_id.clone(), vec![event.clone()]));
            }
            RunEvent::ToolApprovalRequest(request) => self.ask(&request.call_id, event),
            RunEvent::InputRequest(request) => self.ask(&request.call_id, event),
            RunEvent::ToolOutput { call_id, preliminary: false, .. }
            | RunEvent::ToolError { call_id, .. }
            | RunEvent::ToolRefused { call_id, .. }
            | RunEvent::ToolDenied { call_id, .. } => self.open.retain(|(open, _)| open != call_id),
            // Its own agents wait, and their calls are among those of this one.
            RunEvent::AgentState(state) => self.open.retain(|(open, _)| *open != state.tool_call_id),
            _ => {}
        }
    }

    fn ask(&mut self, call_id: &Text, event: &RunEvent) {
        if let Some((_, events)) = self.open.iter_mut().find(|(open, _)| open == call_id) {
            events.push(event.clone());
        }
    }

    /// Returns the end of the call of a tool.
    pub(super) fn into_end(self) -> Option<InnerEnd> {
        let message = self.written.into_message();
        let state = own_call(&message)?.state.clone();
        state.is_answered().then_some(InnerEnd { state, has_failed: self.has_failed })
    }

    /// Returns `true` if a call waits for the user.
    pub(super) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the events that show the open calls as those of the run. One of them has the state of the agent, unless the run
    /// is stored.
    ///
    /// Returns `None` if the state is too long for a client, or cannot be encrypted.
    pub(super) fn into_questions(self, agent_id: &Text, asked_by: &Text) -> Option<Vec<RunEvent>> {
        let sealer = self.sealer?;
        let mut token = String::new();
        if !self.is_stored {
            let mut message = self.written.into_message();
            // Its calls are answered in the message of the run.
            message.id = sealer.message_id().clone();
            let messages = serde_json::value::to_raw_value(&[message]).ok()?;
            let AskingCall { tool, arguments } = self.call?;
            // The client keeps the arguments anyway.
            let largest = LARGEST.saturating_add(arguments.as_str().len());
            let kept = Kept { tool, arguments, agent_id: agent_id.clone(), messages: &messages };
            let state = serde_json::to_vec(&kept).ok().filter(|state| state.len() <= largest)?;
            token = sealer.seal_state(asked_by, &state)?;
        }
        let mut questions = Vec::new();
        for (_, events) in self.open {
            for mut event in events {
                if let RunEvent::ToolInputAvailable { metadata, .. } = &mut event {
                    let entry = format!("{} {asked_by}", std::mem::take(&mut token));
                    metadata.get_or_insert_default().set_own(ProviderMetadata::AGENT, entry);
                }
                questions.push(event);
            }
        }
        Some(questions)
    }
}

/// Returns the id of the call that asked for another one.
fn asked_by(metadata: &ProviderMetadata) -> Option<&str> {
    metadata.own_text(ProviderMetadata::AGENT)?.split_once(' ').map(|(_, asked_by)| asked_by)
}

/// Returns the call of the message of an inner call.
pub(super) fn own_call(message: &Message) -> Option<&ToolPart> {
    message.tools().find(|call| call.asked_by().is_none())
}
