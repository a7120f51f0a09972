use serde::Serialize;

use crate::message::Role;
use crate::{Error, Result, RunRequest, Text};

/// A command for an agent runtime. It serialises as `{"type": "send", "message": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AgentCommand {
    /// A message of the user.
    Send {
        /// The text; empty if the message has only files.
        message: Text,
    },
}

impl AgentCommand {
    /// Creates the command for a request, from its last user message.
    ///
    /// # Errors
    ///
    /// Returns an error if the request has no user message.
    ///
    /// ```
    /// use omniassist_core::RunRequest;
    /// use omniassist_core::bridge::AgentCommand;
    ///
    /// let command = AgentCommand::send(&RunRequest::prompt("Hello"))?;
    /// assert_eq!(serde_json::to_string(&command)?, r#"{"type":"send","message":"Hello"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send(request: &RunRequest) -> Result<Self> {
        let message = request.messages.iter().rfind(|message| message.role == Role::User);
        let message = message.ok_or_else(|| Error::invalid_field("messages", "a user message", "none"))?;
        Ok(Self::Send { message: message.text().into() })
    }
}
