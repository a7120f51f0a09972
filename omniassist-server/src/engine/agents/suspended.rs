//! The agents of a conversation that waited for the user.

use std::collections::BTreeMap;
use std::mem;

use omniassist_core::message::{Message, Part, ProviderMetadata, Role, ToolPart, ToolState};
use omniassist_core::run::{Gate, ResumedCall, ToolCatalog as _};
use omniassist_core::{JsonText, RunRequest, Text};

use crate::RunContext;
use crate::engine::Assistant;
use crate::engine::tree::{AgentRecords, KeptCall, Suspended, WaitingAgent};
use crate::seal::open_state;
use crate::tool::ToolSnapshot;

impl Assistant {
    /// Returns the tools of a run with the names of those that were removed since they asked for an approval. The calls that
    /// the user has answered are then settled like those of hidden tools.
    pub(in crate::engine) fn with_removed(tools: ToolSnapshot, request: &RunRequest) -> ToolSnapshot {
        let is_removed = |call: &&ToolPart| {
            matches!(call.state, ToolState::ApprovalResponded { .. }) && tools.side(&call.name).is_none()
        };
        let calls = request.messages.last().into_iter().flat_map(Message::tools);
        let removed: Vec<_> = calls.filter(is_removed).map(|call| call.name.clone()).collect();
        if removed.is_empty() { tools } else { tools.reserving(removed) }
    }

    /// Removes the calls of asked agents from a verified conversation, and marks the calls that run again. Returns the agents
    /// that go on, by the calls that asked them, with the answers of the user.
    pub(in crate::engine) fn take_suspended(
        &self,
        request: &mut RunRequest,
        tools: &ToolSnapshot,
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
                let mut resumed = self.resumed(message, &asked, run, stored);
                request.resumed_calls = resumed
                    .iter_mut()
                    .filter_map(|(asked_by, call)| {
                        let proof = call.reopen(message, asked_by, &mut request.unaccepted, tools)?;
                        Some(ResumedCall { call_id: asked_by.clone(), proof })
                    })
                    .collect();
                suspended = resumed.into_iter().map(|(asked_by, call)| (asked_by, call.suspended)).collect();
                suspended
                    .iter_mut()
                    .for_each(|(asked_by, state)| state.answer(asked_by, &asked, &request.unaccepted));
            }
            request.asked_calls.extend(asked.into_iter().map(|call| call.call_id));
        }
        suspended
    }

    /// Returns the calls of the last message that waited for the user, by their ids.
    fn resumed(
        &self,
        message: &Message,
        asked: &[ToolPart],
        run: &RunContext,
        stored: Option<&AgentRecords>,
    ) -> BTreeMap<Text, Resumed> {
        let mut resumed = BTreeMap::new();
        let chat = run.chat_id().map(Text::as_str);
        // A later state of an agent replaces an earlier one.
        for call in asked {
            let entry = call.metadata.as_ref().and_then(|own| own.own_text(ProviderMetadata::AGENT));
            let Some((token, asked_by)) = entry.and_then(|entry| entry.split_once(' ')) else { continue };
            if token.is_empty() {
                let waits = stored.and_then(|stored| stored.waiting().get(asked_by));
                let stored = |waits: &WaitingAgent| Resumed { suspended: waits.clone().into(), kept: None };
                resumed.extend(waits.map(|waits| (Text::from(asked_by), stored(waits))));
                continue;
            }
            let Some(seals) = &self.setup.seals else { continue };
            let state = open_state(&seals.keys, chat, run.principal(), &message.id, asked_by, token);
            match state.and_then(|state| Suspended::read(&state, self.limits())) {
                Some(KeptCall { tool, arguments, suspended }) => {
                    let kept = Some(Kept { tool, arguments, proof: token.into() });
                    resumed.insert(Text::from(asked_by), Resumed { suspended, kept });
                }
                None => {
                    tracing::info!(
                        "the posted state of a call was ignored: nothing proves it, or it has expired"
                    );
                }
            }
        }
        resumed
    }
}

/// A call that waited for the user.
struct Resumed {
    suspended: Suspended,
    /// Set for a call whose state the client has kept.
    kept: Option<Kept>,
}

struct Kept {
    tool: Text,
    arguments: JsonText,
    proof: Text,
}

impl Resumed {
    /// Gives the call the arguments with which it ran, if it goes on. The client may have posted others, and its approval may
    /// have expired since. Returns the proof that may be used once, if the call needed an approval. Returns `None` if the call
    /// does not go on: it has its end, or it is another one.
    fn reopen(
        &self,
        message: &mut Message,
        asked_by: &Text,
        unaccepted: &mut Vec<Text>,
        tools: &ToolSnapshot,
    ) -> Option<Option<Text>> {
        let part = message.parts.iter_mut().find_map(|part| match part {
            Part::Tool(call) if call.call_id == *asked_by => Some(call),
            _ => None,
        })?;
        let approved = match &part.state {
            ToolState::InputAvailable { .. } | ToolState::OutputAvailable { preliminary: true, .. } => false,
            ToolState::ApprovalResponded { approval, .. } => approval.is_approved().then_some(true)?,
            // The state proves that the call began before its approval expired.
            ToolState::OutputError { .. } if unaccepted.contains(asked_by) => true,
            _ => return None,
        };
        let Some(Kept { tool, arguments, proof }) = &self.kept else {
            if let ToolState::ApprovalResponded { input, approval } = &part.state {
                let input = approval.arguments.as_ref().unwrap_or(input).clone();
                part.state = ToolState::InputAvailable { input };
            }
            return Some(None);
        };
        if part.name != *tool {
            tracing::info!("the posted state of a call was ignored: it is that of another tool");
            return None;
        }
        unaccepted.retain(|call| call != asked_by);
        part.state = ToolState::InputAvailable { input: arguments.clone() };
        let is_once = approved || matches!(tools.gate(tool, arguments), Gate::Approval { .. });
        Some(is_once.then(|| proof.clone()))
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
