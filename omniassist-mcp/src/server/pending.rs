use omniassist_server::core::message::{Decision, Part, Role, ToolPart, ToolState, read};
use omniassist_server::core::{JsonText, Limits, Message, Text};
use rmcp::model::InputResponses;

use super::question::Answer;

/// The error of a form that the user does not fill in.
const DECLINED: &str = "The user declined to answer.";

/// A call that waits for the user of the client: the assistant's message with the call, as it was sealed.
///
/// Its text is the `requestState` of the protocol. Nothing in it is trusted: the seals of the open calls, which the
/// assistant checks, bind them to the principal, the message, the tool, its arguments and an expiry.
pub(super) struct Pending {
    message: Message,
}

impl Pending {
    pub(super) fn new(message: Message) -> Self {
        Self { message }
    }

    /// Writes the state. `None` for a message that cannot be written.
    pub(super) fn to_state(&self) -> Option<String> {
        serde_json::to_string(&[&self.message]).ok()
    }

    /// Reads a state that a client returns. `None` if it is none.
    pub(super) fn read(state: String, limits: &Limits) -> Option<Self> {
        let mut messages = read::messages(&Text::from(state), limits).ok()?;
        let message = messages.pop()?;
        (messages.is_empty() && message.role == Role::Assistant).then_some(Self { message })
    }

    /// Returns `true` if the state is that of an open call of this tool with these arguments. A message of a chat may have more
    /// calls, and one without a seal may have any result.
    pub(super) fn is_of(&self, name: &str, arguments: &JsonText) -> bool {
        let mut own = self.message.tools().filter(|call| call.asked_by().is_none());
        let (Some(call), None) = (own.next(), own.next()) else { return false };
        // A call that was approved may wait again, and may have shown its progress.
        let (ToolState::ApprovalRequested { input, .. }
        | ToolState::ApprovalResponded { input, .. }
        | ToolState::InputAvailable { input }
        | ToolState::OutputAvailable { input, preliminary: true, .. }) = &call.state
        else {
            return false;
        };
        call.name == name && input.to_value() == arguments.to_value()
    }

    /// Puts the answers of the user into the calls that wait for them. `None` if one is missing.
    pub(super) fn answered(mut self, responses: &InputResponses) -> Option<Message> {
        let start = self.message.last_step();
        for part in self.message.parts.iter_mut().skip(start) {
            if let Part::Tool(call) = part {
                answer(call, responses)?;
            }
        }
        Some(self.message)
    }
}

/// Answers a call, if it waits. A call without a question waits for the agent that it asked.
fn answer(call: &mut ToolPart, responses: &InputResponses) -> Option<()> {
    let state = match &call.state {
        ToolState::ApprovalRequested { input, approval } => {
            let answer = Answer::read(responses, &call.call_id)?;
            let decision = if answer.is_approval() { Decision::approved() } else { Decision::denied(None) };
            let approval = approval.clone().decided(decision);
            ToolState::ApprovalResponded { input: input.clone(), approval }
        }
        ToolState::InputAvailable { input } => {
            let Some(answer) = Answer::read(responses, &call.call_id) else { return Some(()) };
            match answer.into_form() {
                Some(output) => {
                    ToolState::OutputAvailable { input: input.clone(), output, preliminary: false }
                }
                None => ToolState::OutputError {
                    input: Some(input.clone()),
                    error_text: Text::from_static(DECLINED),
                },
            }
        }
        _ => return Some(()),
    };
    call.state = state;
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pending(calls: &[(&str, Value)]) -> Pending {
        let part = |(index, (name, input)): (usize, &(&str, Value))| {
            json!({
                "type": format!("tool-{name}"), "toolCallId": format!("c{index}"), "state": "approval-requested",
                "input": input, "approval": { "id": format!("approval-c{index}") }
            })
        };
        let parts: Vec<_> = calls.iter().enumerate().map(part).collect();
        let messages = json!([{ "id": "m", "role": "assistant", "parts": parts }]);
        Pending::read(messages.to_string(), &Limits::default()).unwrap()
    }

    #[test]
    fn a_state_is_that_of_its_only_call() {
        let five = || ("refund", json!({ "cents": 5 }));
        let arguments = |cents: u32| JsonText::from_value(&json!({ "cents": cents }));
        assert!(pending(&[five()]).is_of("refund", &arguments(5)));
        assert!(!pending(&[five()]).is_of("refund", &arguments(6)));
        assert!(!pending(&[five()]).is_of("payout", &arguments(5)));
        assert!(!pending(&[]).is_of("refund", &arguments(5)));
        // The second one would be approved with the first one.
        assert!(!pending(&[five(), ("payout", json!({}))]).is_of("refund", &arguments(5)));
    }
}
