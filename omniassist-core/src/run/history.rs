use std::collections::HashSet;

use super::{RunRequest, Trigger};
use crate::message::{Message, Role};
use crate::{Error, Result, Text};

impl RunRequest {
    /// Completes a request that [awaits the conversation before it](Self::awaits_history) with the host's copy of it,
    /// oldest first.
    ///
    /// - The posted message replaces the stored one with the same id, and the messages after it are dropped.
    ///   It is an edited question, or an answer to an approval or a call of a front-end tool. A message with another id
    ///   is appended.
    /// - [`Trigger::Regenerate`] first drops the answer with the id [`message_id`](Self::message_id), and all messages
    ///   after it. If the id belongs to a question, only the messages after the question are dropped. Without an id and
    ///   without a posted message, the last answer is dropped.
    ///
    /// A request that does not await a history is unchanged.
    ///
    /// ```
    /// use omniassist_core::{Message, RunRequest};
    ///
    /// let mut request = RunRequest::new(vec![Message::user("m3", "And order 18?")]);
    /// request.awaits_history = true;
    /// request.add_history(vec![Message::user("m1", "Where is order 17?"), Message::assistant("m2", "In Kiel.")])?;
    /// assert_eq!(request.messages.len(), 3);
    /// # Ok::<(), omniassist_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there is no question to answer: nothing was posted, and the stored conversation is empty or
    /// has no message with the id of [`message_id`](Self::message_id).
    pub fn add_history(&mut self, mut stored: Vec<Message>) -> Result<()> {
        if !std::mem::take(&mut self.awaits_history) {
            return Ok(());
        }
        if self.trigger == Trigger::Regenerate {
            self.cut_answer(&mut stored)?;
        }
        if let Some(posted) = self.messages.first_mut() {
            if posted.id.is_empty() {
                posted.id = unused_id(&stored);
            }
            if let Some(at) = position(&stored, &posted.id) {
                stored.truncate(at);
            }
        } else if stored.is_empty() {
            return Err(Error::invalid_field("messageId", "the id of an answer to a message", "another id"));
        }
        self.loaded_messages = stored.len();
        stored.append(&mut self.messages);
        self.messages = stored;
        Ok(())
    }

    /// Drops the answer that is made again.
    fn cut_answer(&self, stored: &mut Vec<Message>) -> Result<()> {
        let named = self.message_id.as_ref().and_then(|id| position(stored, id));
        match (named, &self.message_id) {
            (Some(at), _) => {
                let is_question = stored.get(at).is_some_and(|message| message.role != Role::Assistant);
                stored.truncate(at + usize::from(is_question));
            }
            _ if !self.messages.is_empty() => {}
            (None, Some(_)) => {
                let expected = "the id of a message of the chat";
                return Err(Error::invalid_field("messageId", expected, "another id"));
            }
            (None, None) => {
                stored.pop_if(|last| last.role == Role::Assistant);
            }
        }
        Ok(())
    }
}

fn position(messages: &[Message], id: &Text) -> Option<usize> {
    messages.iter().rposition(|message| message.id == *id)
}

/// Returns an id for a message that was posted without one.
fn unused_id(stored: &[Message]) -> Text {
    let ids: HashSet<&str> = stored.iter().map(|message| message.id.as_str()).collect();
    let mut number = stored.len();
    loop {
        let id = format!("msg-{number}");
        if !ids.contains(id.as_str()) {
            return id.into();
        }
        number += 1;
    }
}
