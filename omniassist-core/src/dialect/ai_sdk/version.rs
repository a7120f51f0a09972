use crate::Text;
use crate::message::{Message, Part, ToolState, known_question};

/// The major version of the client's `ai` package, which requests do not state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ClientVersion {
    /// Version 5, which has no approvals: calls that need one are refused.
    V5,
    /// Version 6 or later, or unknown. Everything except approvals is written so that version 5 accepts it too.
    #[default]
    V6,
    /// Version 7, which has fields for the question of an approval, for calls that were refused automatically, and for
    /// the reason of a stop. It can withdraw the parts of a step.
    V7,
}

impl ClientVersion {
    /// Returns the version with this number, the value of the `ai-sdk` parameter of a request's query.
    #[must_use]
    pub fn from_number(number: &str) -> Option<Self> {
        match number {
            "5" => Some(Self::V5),
            "6" => Some(Self::V6),
            "7" => Some(Self::V7),
            _ => None,
        }
    }

    /// Completes a stored message for this version: with version 7, the question of each approval is in its part too, at
    /// `approval.requestReason`, as in a stream.
    pub fn complete(self, message: &mut Message) {
        if self < Self::V7 {
            return;
        }
        let question = |part: &Part| match part {
            Part::Tool(tool) => known_question(message, &tool.call_id).0,
            _ => None,
        };
        let questions: Vec<Option<Text>> = message.parts.iter().map(question).collect();
        for (part, question) in message.parts.iter_mut().zip(questions) {
            if let Part::Tool(tool) = part
                && let ToolState::ApprovalRequested { approval, .. }
                | ToolState::ApprovalResponded { approval, .. }
                | ToolState::OutputDenied { approval, .. } = &mut tool.state
                && let Some(question) = question
            {
                approval.extra.insert("requestReason".to_owned(), question.as_str().into());
            }
        }
    }
}
