use omniassist_server::tool::{ToolContext, ToolError};
use rmcp::model::{ElicitResult, ElicitationAction, InputRequest, InputRequests, InputResponses};
use serde::{Deserialize, Serialize};

use super::{Question, Unshown};
use crate::client::McpError;

/// The times that one call may ask.
const MAX_ROUNDS: u8 = 8;

/// The questions of one round.
const MAX_QUESTIONS: usize = 8;

const TOO_OFTEN: &str = "The server asked the user too often. The call did not finish.";
const NOT_SHOWN: &str = "The server asked for something that a user cannot be shown.";
const NOT_OFFERED: &str = "The server asked for something other than an input of the user. It is not given.";
const NOT_READ: &str = "The state of the call cannot be read. The call did not finish.";

/// A call that waits for its user. It is kept by the client or the store, and comes back with the answer.
#[derive(Serialize, Deserialize)]
pub(in crate::client) struct Waiting {
    round: u8,
    asked: Vec<Asked>,
    pub(in crate::client) then: Then,
    /// The questions of earlier rounds, for a call that is made again.
    earlier: Vec<Asked>,
}

/// A question with its answer.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::client) struct Asked {
    key: String,
    question: Question,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<ElicitResult>,
}

/// The way in which a call goes on with its answers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::client) enum Then {
    /// It is sent with the answers, and with this state of the server.
    Send(Option<String>),
    /// It is open, under this id, and the answer is sent alone.
    Hold(String),
    /// It is made again.
    Repeat,
}

impl Waiting {
    /// Returns the state of a call that has waited.
    ///
    /// # Errors
    ///
    /// Returns an error for a state that another version wrote.
    pub(in crate::client) fn resumed(call: &ToolContext) -> Result<Option<Self>, ToolError> {
        let state = call.resumed_state().map(|state| state.to());
        state.transpose().map_err(|error| ToolError::new(NOT_READ).with_source(error))
    }

    /// Returns the next round of a call.
    pub(in crate::client) fn next(last: Option<Self>, asked: Vec<Asked>, then: Then) -> Self {
        let (mut round, mut earlier) = (1, Vec::new());
        if let Some(last) = last {
            round = last.round.saturating_add(1);
            earlier = last.answered();
        }
        Self { round, asked, then, earlier }
    }

    /// Checks that the call may ask once more.
    ///
    /// # Errors
    ///
    /// Returns an error after the last round.
    pub(in crate::client) fn check_next(&self) -> Result<(), ToolError> {
        if self.round < MAX_ROUNDS { Ok(()) } else { Err(ToolError::new(TOO_OFTEN)) }
    }

    /// Asks the user what is not answered yet. The call ends at the first such question.
    pub(in crate::client) async fn ask(&mut self, server: &str, call: &ToolContext) -> Result<(), ToolError> {
        while let Some(index) = self.asked.iter().position(|asked| asked.answer.is_none()) {
            let Some(question) = self.asked.get(index).map(|asked| asked.question.clone()) else { break };
            let answer = call.ask_user(question.form(server), &*self).await?;
            if let Some(asked) = self.asked.get_mut(index) {
                asked.answer = Some(question.result(answer));
            }
        }
        Ok(())
    }

    /// Returns the answer to the only question of an open call.
    pub(in crate::client) fn answer(&self) -> Option<ElicitResult> {
        self.asked.first()?.answer.clone()
    }

    /// Returns `true` if the user declined something.
    pub(in crate::client) fn is_declined(&self) -> bool {
        let is_accepted = |asked: &Asked| asked.answer.as_ref().is_some_and(Asked::is_accepted);
        !self.asked.iter().all(is_accepted)
    }

    /// Returns the answers as the protocol sends them with a call.
    pub(in crate::client) fn responses(&self) -> InputResponses {
        let response = |asked: &Asked| {
            let answer = serde_json::to_value(asked.answer.as_ref()?).ok()?;
            Some((asked.key.clone(), answer))
        };
        self.asked.iter().filter_map(response).collect()
    }

    /// Returns all questions with their answers, for a call that is made again.
    pub(in crate::client) fn answered(&self) -> Vec<Asked> {
        match self.then {
            Then::Hold(_) => self.earlier.iter().chain(&self.asked).cloned().collect(),
            Then::Send(_) | Then::Repeat => self.earlier.clone(),
        }
    }
}

impl Asked {
    pub(in crate::client) fn new(question: Question) -> Self {
        Self { key: String::new(), question, answer: None }
    }

    /// Reads what a server needs before it goes on.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not an input that the user can be asked for. The protocol has no answer that refuses.
    pub(in crate::client) fn all(needed: Option<InputRequests>) -> Result<Vec<Self>, ToolError> {
        let read = |(key, request)| match request {
            InputRequest::Elicitation(request) => {
                let question = Question::new(request.params).map_err(not_shown)?;
                Ok(Self { key, question, answer: None })
            }
            _ => Err(ToolError::new(NOT_OFFERED)),
        };
        let needed = needed.unwrap_or_default();
        if needed.len() > MAX_QUESTIONS {
            return Err(ToolError::new(TOO_OFTEN));
        }
        needed.into_iter().map(read).collect()
    }

    /// Takes the answer to a question from those that were given before.
    pub(in crate::client) fn take(known: &mut Vec<Self>, question: &Question) -> Option<ElicitResult> {
        let index = known.iter().position(|asked| asked.question == *question && asked.answer.is_some())?;
        known.remove(index).answer
    }

    fn is_accepted(answer: &ElicitResult) -> bool {
        answer.action == ElicitationAction::Accept
    }
}

pub(in crate::client) fn not_shown(Unshown(reason): Unshown) -> ToolError {
    ToolError::new(NOT_SHOWN).with_source(McpError::answer(reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_taken_once_and_for_its_question_only() {
        let question = |message: &str| Question::Form { message: message.to_owned(), schema: json!({}) };
        let answered = Some(ElicitResult::new(ElicitationAction::Accept));
        let mut known = vec![Asked { answer: answered, ..Asked::new(question("a")) }];
        assert!(Asked::take(&mut known, &question("b")).is_none());
        assert!(Asked::take(&mut known, &question("a")).is_some());
        assert!(Asked::take(&mut known, &question("a")).is_none());
    }
}
