//! Calls that have no result because their run has ended.

use std::mem;

use omniassist_core::message::{Message, Part, ToolState};
use omniassist_core::{JsonText, Text};

/// The error of a call whose run ended before the user answered the request for approval.
const NOT_APPROVED: &str = "This call did not run: the user did not answer the request for approval.";

/// The error of an approved call whose run ended before the call ran.
const NOT_RUN: &str = "This call did not run: its run ended first.";

/// The error of a call that had begun when its run was stopped.
const STOPPED: &str = "It is not known whether this took effect: the run was stopped while it ran.";

/// The error of a call whose run ended before it had a result.
const NO_RESULT: &str = "No result: the call was interrupted or never answered.";

/// Settles the calls that have no result, since their run does not go on.
pub(in crate::engine) fn settle_open(message: &mut Message) {
    for part in &mut message.parts {
        let Part::Tool(part) = part else { continue };
        if part.provider_executed {
            continue;
        }
        let failed = |input, error: &'static str| ToolState::OutputError {
            input: Some(input),
            error_text: Text::from_static(error),
        };
        part.state = match mem::replace(&mut part.state, ToolState::InputStreaming) {
            ToolState::ApprovalResponded { input, approval } if !approval.is_approved() => {
                ToolState::OutputDenied { input, approval }
            }
            ToolState::ApprovalRequested { input, .. } => failed(input, NOT_APPROVED),
            ToolState::ApprovalResponded { input, .. } => failed(input, NOT_RUN),
            ToolState::InputAvailable { input }
            | ToolState::OutputAvailable { input, preliminary: true, .. } => failed(input, NO_RESULT),
            settled => settled,
        };
    }
}

/// Settles the calls that have no result, since their run was stopped or has failed. `begun` are the calls whose tools have
/// started.
pub(in crate::engine) fn settle_stopped(message: &mut Message, begun: &[Text]) {
    for part in &mut message.parts {
        if let Part::Tool(part) = part
            && begun.contains(&part.call_id)
            && let ToolState::ApprovalResponded { input, .. }
            | ToolState::InputAvailable { input }
            | ToolState::OutputAvailable { input, preliminary: true, .. } = &part.state
        {
            let (input, error_text) = (Some(input.clone()), Text::from_static(STOPPED));
            part.state = ToolState::OutputError { input, error_text };
        }
    }
    settle_open(message);
}

/// Returns `true` for the state of a call whose request for approval had no answer when its run ended.
pub(super) fn was_not_approved(state: &ToolState) -> bool {
    matches!(state, ToolState::OutputError { error_text, .. } if *error_text == NOT_APPROVED)
}

/// Returns `true` for the state of a call that had no answer when its run ended. An answer with the next message replaces it.
pub(super) fn is_left_open(state: &ToolState) -> bool {
    let texts = [NOT_APPROVED, NO_RESULT];
    match state {
        ToolState::OutputError { error_text, .. } => texts.iter().any(|text| error_text == text),
        // Clients of AG-UI return errors as text.
        ToolState::OutputAvailable { output, .. } => {
            texts.iter().any(|text| *output == JsonText::from_str_value(text))
        }
        _ => false,
    }
}
