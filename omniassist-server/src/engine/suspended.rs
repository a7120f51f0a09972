//! The agents of a conversation that waited for the user.

use std::collections::BTreeMap;
use std::mem;

use omniassist_core::message::{Message, Part, ProviderMetadata, Role, ToolPart};
use omniassist_core::{RunRequest, Text};

use super::Assistant;
use super::agent_records::AgentRecords;
use super::tree::Suspended;
use crate::RunContext;
use crate::seal::open_state;

impl Assistant {
    /// Removes the calls of asked agents from a verified conversation. Returns the agents that go on, by the calls that
    /// asked them, with the answers of the user.
    pub(super) fn take_suspended(
        &self,
        request: &mut RunRequest,
        run: &RunContext,
        stored: Option<&AgentRecords>,
    ) -> BTreeMap<Text, Suspended> {
        let mut suspended = BTreeMap::new();
        let last = request.messages.len().wrapping_sub(1);
        for (index, message) in request.messages.iter_mut().enumerate() {
            if message.role != Role::Assistant {
                continue;
            }
            let asked = take_asked(message);
            if index == last {
                suspended = self.suspended(message, &asked, &request.unaccepted, run, stored);
            }
            request.asked_calls.extend(asked.into_iter().map(|call| call.call_id));
        }
        request.resumed_calls = suspended.keys().cloned().collect();
        suspended
    }

    fn suspended(
        &self,
        message: &Message,
        asked: &[ToolPart],
        unaccepted: &[Text],
        run: &RunContext,
        stored: Option<&AgentRecords>,
    ) -> BTreeMap<Text, Suspended> {
        let mut suspended = BTreeMap::new();
        let chat = run.chat_id().map(Text::as_str);
        // A later state of an agent replaces an earlier one.
        for call in asked {
            let entry = call.metadata.as_ref().and_then(|own| own.own_text(ProviderMetadata::AGENT));
            let Some((token, asked_by)) = entry.and_then(|entry| entry.split_once(' ')) else { continue };
            if token.is_empty() {
                let waits = stored.and_then(|stored| stored.waiting().get(asked_by));
                suspended.extend(waits.map(|waits| (Text::from(asked_by), waits.clone().into())));
                continue;
            }
            let Some(seals) = &self.setup.seals else { continue };
            let state = open_state(&seals.keys, chat, run.principal(), &message.id, asked_by, token);
            match state.and_then(|state| Suspended::read(&state, self.limits())) {
                Some(state) => {
                    suspended.insert(Text::from(asked_by), state);
                }
                None => tracing::info!("the posted state of an agent was ignored: nothing proves it"),
            }
        }
        for (asked_by, state) in &mut suspended {
            for part in &mut state.message.parts {
                let Part::Tool(open) = part else { continue };
                let answered = asked
                    .iter()
                    .find(|call| call.call_id == open.call_id && call.asked_by() == Some(asked_by.as_str()));
                if let Some(answered) = answered.filter(|_| !open.state.is_answered()) {
                    open.state = answered.state.clone();
                    if unaccepted.contains(&open.call_id) {
                        state.unaccepted.push(open.call_id.clone());
                    }
                }
            }
        }
        suspended
    }
}

/// Removes the calls of asked agents from a message, with the steps that have no other part. Returns these calls.
fn take_asked(message: &mut Message) -> Vec<ToolPart> {
    if message.tools().all(|call| call.asked_by().is_none()) {
        return Vec::new();
    }
    let mut taken = Vec::new();
    let mut kept: Vec<Part> = Vec::with_capacity(message.parts.len());
    // The number of calls that were taken since the last start of a step.
    let mut in_step = 0;
    for part in mem::take(&mut message.parts) {
        match part {
            Part::Tool(call) if call.asked_by().is_some() => {
                in_step += 1;
                taken.push(call);
                continue;
            }
            Part::StepStart if in_step > 0 && matches!(kept.last(), Some(Part::StepStart)) => {
                kept.pop();
                in_step = 0;
            }
            Part::StepStart => in_step = 0,
            _ => {}
        }
        kept.push(part);
    }
    if in_step > 0 && matches!(kept.last(), Some(Part::StepStart)) {
        kept.pop();
    }
    message.parts = kept;
    taken
}
