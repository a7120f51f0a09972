//! Handoffs: an agent passes the conversation on to another one, which goes on with the same message.
//!
//! The model calls a tool, `transfer_to_{name}`. The agent of a conversation is read from its calls: it is that of the last
//! call of such a tool that succeeded. No other state is kept, so each server that goes on with the conversation finds the
//! same agent, and a forged call has no effect, like any other forged result.

use std::sync::Arc;

use omniassist_core::message::{Message, Part, Role, ToolState};
use omniassist_core::{RunRequest, Text, TranscriptItem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preparation::Preparation;
use crate::RunContext;
use crate::engine::plan::Call;
use crate::engine::settings::Agent;
use crate::tool::{Args, Json, Tool, ToolError, ToolSnapshot};

/// The beginning of the names of the tools that hand off.
const PREFIX: &str = "transfer_to_";

/// The number of times that a question changes its agent.
const MAX_HANDOFFS: u32 = 4;

// No doc comment: it would be the description of the schema, which models read.
#[derive(Deserialize, JsonSchema)]
struct Transfer {
    /// The reason, in one sentence.
    #[serde(default)]
    #[allow(dead_code, reason = "for the next agent, which reads the call in the conversation")]
    reason: Option<String>,
}

/// The result of a call that hands off.
#[derive(Clone, Serialize)]
struct Transferred {
    agent: Text,
}

/// Returns `true` for a name that only tools of the server have, where agents hand off.
pub(in crate::engine) fn is_reserved(tool: &str) -> bool {
    tool.starts_with(PREFIX)
}

/// Returns the name of the tool by which a model hands the conversation off to an agent.
pub(in crate::engine) fn tool_name(agent: &Text) -> Text {
    format!("{PREFIX}{agent}").into()
}

/// Returns the tool by which a model hands the conversation off to an agent.
pub(in crate::engine) fn tool(Agent { name, description, .. }: &Agent) -> Tool {
    let description =
        format!("Hands the conversation off to the agent {name:?}: {description}", name = &**name);
    let transferred = Transferred { agent: name.clone() };
    let transfer = move |Args(Transfer { .. }): Args<Transfer>| {
        let transferred = transferred.clone();
        async move { Ok::<_, ToolError>(Json(transferred)) }
    };
    Tool::new(tool_name(name), description, transfer).idempotent()
}

/// Returns the agents to which the calls of a conversation hand off, in order.
///
/// The last step of a message that a run continues does not count: its open calls are those of the agent that made them.
pub(in crate::engine) fn in_messages(messages: &[Message]) -> impl Iterator<Item = &str> {
    let last = messages.len().wrapping_sub(1);
    let answers = messages.iter().enumerate().filter(|(_, message)| message.role == Role::Assistant);
    answers.flat_map(move |(index, message)| {
        message.parts.iter().take(settled(message, index == last)).filter_map(target)
    })
}

/// Returns the number of parts of a message whose calls hand off.
fn settled(message: &Message, is_last: bool) -> usize {
    if is_last { message.last_step() } else { message.parts.len() }
}

fn is_start(part: &Part) -> bool {
    matches!(part, Part::StepStart)
}

/// The part of a question that is answered before the agent that has the conversation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct Before {
    /// The steps of the agents before it.
    pub(in crate::engine) steps: u32,
    handoffs: u32,
}

impl Before {
    /// Reads the messages after the last one of the user. Calls that lead to no agent are of other tools.
    pub(in crate::engine) fn read(messages: &[Message], is_agent: impl Fn(&str) -> bool) -> Self {
        let (mut before, mut steps) = (Self::default(), 0);
        let question = messages.iter().rposition(|message| message.role == Role::User).map_or(0, |at| at + 1);
        let answers = messages.iter().enumerate().skip(question);
        for (index, message) in answers.filter(|(_, message)| message.role == Role::Assistant) {
            let settled = settled(message, index + 1 == messages.len());
            let mut own = 0;
            for (at, part) in message.parts.iter().enumerate() {
                own += u32::from(is_start(part));
                let taken = steps + own.max(1);
                if at < settled && before.steps < taken && target(part).is_some_and(&is_agent) {
                    before = Self { steps: taken, handoffs: before.handoffs + 1 };
                }
            }
            steps += own.max(u32::from(!message.parts.is_empty()));
        }
        before
    }

    /// Returns the number of handoffs that the question may still have.
    pub(in crate::engine) fn left(self) -> u32 {
        MAX_HANDOFFS.saturating_sub(self.handoffs)
    }
}

fn target(part: &Part) -> Option<&str> {
    match part {
        Part::Tool(tool) => {
            let has_succeeded = matches!(tool.state, ToolState::OutputAvailable { preliminary: false, .. });
            tool.name.strip_prefix(PREFIX).filter(|_| has_succeeded)
        }
        _ => None,
    }
}

/// The name of the data that tells clients of a handoff.
pub(in crate::engine) const DATA: &str = "agent-handoff";

/// Returns the calls of the last turn that hand off, with their agents.
fn in_last_turn(transcript: &[TranscriptItem]) -> Vec<(&Text, &str)> {
    let is_result = |item: &TranscriptItem| matches!(item, TranscriptItem::Result(_));
    let end = transcript.iter().rposition(|item| !is_result(item)).map_or(0, |last| last + 1);
    let (turn, results) = transcript.split_at(end);
    let call_of =
        |id: &Text| turn.iter().rev().filter_map(TranscriptItem::as_call).find(|call| call.id == *id);
    results
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Result(result) if !result.is_error => {
                let call = call_of(&result.call_id)?;
                Some((&call.id, call.name.strip_prefix(PREFIX)?))
            }
            _ => None,
        })
        .collect()
}

/// The settings of a run with the agent that has the conversation now.
pub(in crate::engine) struct HandedOff {
    pub(in crate::engine) run: RunContext,
    pub(in crate::engine) call: Call,
    pub(in crate::engine) tools: ToolSnapshot,
    /// The model calls that the agent may take.
    pub(in crate::engine) max_steps: u32,
}

/// The preparation of a run for another agent, as a future.
pub(in crate::engine) type HandingOff = Preparation<HandedOff>;

/// Prepares runs for the agents to which others hand off.
pub(in crate::engine) trait Successors: Send + Sync {
    /// Returns the preparation for the agent that has the conversation after handoffs. `None` if it is that of the run.
    /// After the last handoff of a question, the agent cannot hand off.
    fn hand_off(
        &self,
        to: &[&str],
        run: &RunContext,
        request: &RunRequest,
        is_last: bool,
    ) -> Option<HandingOff>;
}

/// The handoffs of a run.
pub(in crate::engine) struct Handoffs {
    successors: Arc<dyn Successors>,
    /// The request, without its messages.
    request: RunRequest,
    left: u32,
    preparing: Option<(HandingOff, Due)>,
}

/// A handoff that is prepared.
pub(in crate::engine) struct Due {
    pub(in crate::engine) call_id: Text,
    /// The conversation that the agent reads.
    pub(in crate::engine) transcript: Arc<[TranscriptItem]>,
}

impl Handoffs {
    pub(in crate::engine) fn new(successors: Arc<dyn Successors>, request: RunRequest, left: u32) -> Self {
        Self { successors, request, left, preparing: None }
    }

    /// Begins the handoff that the last turn asks for. Returns `false` if there is none.
    pub(in crate::engine) fn begin(&mut self, transcript: &Arc<[TranscriptItem]>, run: &RunContext) -> bool {
        let calls = in_last_turn(transcript);
        let Some((call_id, _)) = calls.last() else { return false };
        let due = Due { call_id: (*call_id).clone(), transcript: Arc::clone(transcript) };
        let to: Vec<_> = calls.into_iter().map(|(_, to)| to).collect();
        let handing_off = self.successors.hand_off(&to, run, &self.request, self.left <= 1);
        self.preparing = handing_off.map(|handing_off| (handing_off, due));
        self.preparing.is_some()
    }

    /// Returns the handoff that is prepared now.
    pub(super) fn preparing(&mut self) -> Option<&mut HandingOff> {
        self.preparing.as_mut().map(|(handing_off, _)| handing_off)
    }

    pub(super) fn is_preparing(&self) -> bool {
        self.preparing.is_some()
    }

    /// Ends the preparation of a handoff.
    pub(in crate::engine) fn prepared(&mut self) -> Option<Due> {
        self.left = self.left.saturating_sub(1);
        self.preparing.take().map(|(_, due)| due)
    }
}
