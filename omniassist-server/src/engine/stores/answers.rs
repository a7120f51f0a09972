//! Answers of a client to the calls that a stored message left open.

use omniassist_core::message::{Approval, Decision, Message, Part, Role, ToolPart, ToolState};
use omniassist_core::run::ToolCatalog;
use omniassist_core::{JsonText, RunRequest, Text, ToolSide};
use serde::{Deserialize, Serialize};

use super::left_open::{is_left_open, was_not_approved};
use crate::store::{Received, RunHead, RunState, SignalKind, StoreError};

/// The error of an approved call whose run ends without it.
const NOT_RUN: &str = "This call did not run: the user approved it, but sent another message before it ran. If it is \
    still wanted, make the call again, so that the user is asked again.";

/// An answer to an open call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The output of a front-end tool, or the input of a form.
    Output { output: JsonText },
    /// The failure of a front-end tool, or a form that was not filled in.
    Failure { text: Text },
    /// The user's decision about a call of the server.
    Decision {
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
        /// Arguments that the user edited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<JsonText>,
    },
    /// The user's denial of a call of a front-end tool.
    Denial {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
}

/// The answers of a post whose last message is a stored one.
#[derive(Debug, PartialEq)]
pub(in crate::engine) struct PostedAnswers {
    /// The message.
    pub(in crate::engine) message: Text,
    /// The answers to its open calls.
    pub(in crate::engine) open: Vec<(Text, Answer)>,
    /// `true` if the stored message has all answers that the last step of the post has. `None` if the post has none.
    pub(in crate::engine) is_known: Option<bool>,
    /// `true` if a call of the last step of the post has another answer.
    pub(in crate::engine) differ: bool,
}

impl PostedAnswers {
    /// Compares a posted message with the stored one.
    pub(in crate::engine) fn new(stored: &Message, posted: &Message, tools: &dyn ToolCatalog) -> Self {
        let step = posted.parts.get(posted.last_step()..).unwrap_or_default();
        let (mut is_known, mut differ) = (None, false);
        for part in step {
            let Part::Tool(part) = part else { continue };
            let known = stored.tools().find(|known| known.call_id == part.call_id && known.name == part.name);
            let answer =
                known.and_then(|known| Some((known, Answer::of(&part.state, side_of(known, tools)?)?)));
            if let Some((known, answer)) = answer {
                let is_given = !is_left_open(&known.state) && answer.is_given(&known.state);
                is_known = Some(is_known.unwrap_or(true) && is_given);
                differ |= !is_given && !awaits_answer(&known.state);
            }
        }
        Self { message: stored.id.clone(), open: owed(stored, posted, tools), is_known, differ }
    }
}

/// Returns the posted answers to the open calls of the last step of a stored message. All else of the posted message is
/// ignored.
pub(in crate::engine) fn owed(
    stored: &Message,
    posted: &Message,
    tools: &dyn ToolCatalog,
) -> Vec<(Text, Answer)> {
    let answer = |open: &ToolPart| {
        let mut posted = posted.tools().filter(|part| !is_left_open(&part.state));
        let posted = posted.find(|part| part.call_id == open.call_id && part.name == open.name)?;
        Some((open.call_id.clone(), Answer::of(&posted.state, side_of(open, tools)?)?))
    };
    let step = stored.parts.get(stored.last_step()..).unwrap_or_default();
    step.iter()
        .filter_map(|part| match part {
            Part::Tool(part) if is_open(part, tools) => answer(part),
            _ => None,
        })
        .collect()
}

/// Returns the posted answers to the open calls of a stored message, for a post with a new message after it. No run goes on
/// with them: a denial is final, an output is checked, and a call that the user has approved fails without running.
pub(in crate::engine) fn owed_before(
    stored: &Message,
    posted: &Message,
    tools: &dyn ToolCatalog,
) -> Vec<(Text, Answer)> {
    let check = |call_id: &Text, output: &JsonText| {
        let open = stored.tools().find(|part| part.call_id == *call_id);
        let open = open.and_then(|open| Some((&open.name, open.state.input()?)));
        open.map_or(Ok(()), |(name, input)| tools.check_output(name, input, output))
    };
    let settled = |(call_id, answer): (Text, Answer)| {
        let settled = match answer {
            Answer::Decision { approved: true, .. } => Answer::Failure { text: Text::from_static(NOT_RUN) },
            Answer::Decision { reason, .. } => Answer::Denial { reason },
            Answer::Output { output } => match check(&call_id, &output) {
                Ok(()) => Answer::Output { output },
                Err(text) => Answer::Failure { text },
            },
            answer => answer,
        };
        (call_id, settled)
    };
    owed(stored, posted, tools).into_iter().map(settled).collect()
}

/// Returns the message of a post that answers calls with the ids of those that a run waits for, if a new message of the user
/// follows it.
pub(in crate::engine) fn answered_before<'a>(request: &'a RunRequest, head: &RunHead) -> Option<&'a Message> {
    let (last, earlier) = request.messages.split_last()?;
    if head.state != RunState::Waiting || last.role != Role::User {
        return None;
    }
    let message = earlier.iter().rfind(|message| message.role == Role::Assistant)?;
    let is_asked = |part: &ToolPart| head.obligations.iter().any(|asked| asked.call == part.call_id);
    message.tools().any(|part| is_asked(part) && !awaits_answer(&part.state)).then_some(message)
}

/// Writes answers into the open calls of a message, as the official clients do. A call that is settled stays as it is.
pub(in crate::engine) fn apply_answers<'a>(
    message: &mut Message,
    answers: impl IntoIterator<Item = &'a (Text, Answer)>,
) {
    for (call_id, answer) in answers {
        let part = message.parts.iter_mut().rev().find_map(|part| match part {
            Part::Tool(part) if part.call_id == *call_id => Some(part),
            _ => None,
        });
        if let Some(part) = part.filter(|part| awaits_answer(&part.state)) {
            answer.apply(part);
        }
    }
}

/// Returns the answers among the signals of a run.
///
/// # Errors
///
/// Returns an error if one of them cannot be read.
pub(in crate::engine) fn answers_of(signals: &[Received]) -> Result<Vec<(Text, Answer)>, StoreError> {
    let answer = |received: &Received| match &received.signal.kind {
        SignalKind::Answer(call) => {
            let answer = serde_json::from_slice(&received.signal.data).map_err(StoreError::corrupt);
            Some(answer.map(|answer| (call.clone(), answer)))
        }
        _ => None,
    };
    signals.iter().filter_map(answer).collect()
}

fn awaits_answer(state: &ToolState) -> bool {
    matches!(state, ToolState::InputAvailable { .. } | ToolState::ApprovalRequested { .. })
        || is_left_open(state)
}

/// Returns `true` if the client settles the call. Only the server can give the result of a call that it runs itself.
fn is_open(part: &ToolPart, tools: &dyn ToolCatalog) -> bool {
    let is_front_end = side_of(part, tools) == Some(ToolSide::FrontEnd);
    match part.state {
        _ if part.provider_executed => false,
        ToolState::InputAvailable { .. } => is_front_end,
        ToolState::ApprovalRequested { .. } => true,
        _ => is_left_open(&part.state),
    }
}

/// Returns the side that runs the tool of an open call. The agent of a post can have another tool of the name than the one that
/// asked, so a question that only calls of the server have decides first. A tool that was removed, or declared by another page,
/// is unknown. Then the client settles the call that waits for it.
fn side_of(part: &ToolPart, tools: &dyn ToolCatalog) -> Option<ToolSide> {
    match (part.asked_by(), &part.state) {
        (_, ToolState::ApprovalRequested { .. }) => Some(ToolSide::Server),
        (_, state) if was_not_approved(state) => Some(ToolSide::Server),
        (None, ToolState::InputAvailable { .. }) => tools.side(&part.name).or(Some(ToolSide::FrontEnd)),
        (None, _) => tools.side(&part.name),
        // The tool is that of an agent, which asked the client only for what the client gives.
        (Some(_), ToolState::InputAvailable { .. }) => Some(ToolSide::FrontEnd),
        (Some(_), _) => Some(ToolSide::Server),
    }
}

impl Answer {
    fn of(posted: &ToolState, side: ToolSide) -> Option<Self> {
        let reason = |approval: &Approval| approval.decision.as_ref()?.reason.clone();
        match (side, posted) {
            (ToolSide::Server, ToolState::ApprovalResponded { approval, .. }) => {
                let decision = approval.decision.clone()?;
                Some(Self::Decision {
                    approved: decision.approved,
                    reason: decision.reason,
                    arguments: approval.arguments.clone(),
                })
            }
            (ToolSide::FrontEnd, ToolState::OutputAvailable { output, preliminary: false, .. }) => {
                Some(Self::Output { output: output.clone() })
            }
            (ToolSide::FrontEnd, ToolState::OutputError { error_text, .. }) => {
                Some(Self::Failure { text: error_text.clone() })
            }
            (ToolSide::FrontEnd, ToolState::OutputDenied { approval, .. }) => {
                Some(Self::Denial { reason: reason(approval) })
            }
            _ => None,
        }
    }

    /// Returns `true` for the state of a call after this answer.
    fn is_given(&self, state: &ToolState) -> bool {
        match (self, state) {
            (Self::Output { output }, ToolState::OutputAvailable { output: known, .. }) => output == known,
            (Self::Failure { text }, ToolState::OutputError { error_text, .. }) => text == error_text,
            (
                Self::Decision { approved: false, .. } | Self::Denial { .. },
                ToolState::OutputDenied { .. },
            ) => true,
            (
                Self::Decision { approved: true, .. },
                ToolState::OutputAvailable { .. } | ToolState::OutputError { .. },
            ) => true,
            (Self::Decision { approved, .. }, ToolState::ApprovalResponded { approval, .. }) => {
                approval.decision.as_ref().is_some_and(|decision| decision.approved == *approved)
            }
            _ => false,
        }
    }

    fn apply(&self, part: &mut ToolPart) {
        let input = part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
        let approval = || match &part.state {
            ToolState::ApprovalRequested { approval, .. } => approval.clone(),
            _ => Approval::new(part.call_id.clone()),
        };
        part.state = match self {
            Self::Output { output } => {
                ToolState::OutputAvailable { input, output: output.clone(), preliminary: false }
            }
            Self::Failure { text } => ToolState::OutputError { input: Some(input), error_text: text.clone() },
            Self::Decision { approved, reason, arguments } => {
                let decision = Decision { approved: *approved, reason: reason.clone() };
                let mut approval = approval().decided(decision);
                approval.arguments = arguments.clone();
                ToolState::ApprovalResponded { input, approval }
            }
            Self::Denial { reason } => {
                let approval = approval().decided(Decision::denied(reason.clone()));
                ToolState::OutputDenied { input, approval }
            }
        };
    }
}
