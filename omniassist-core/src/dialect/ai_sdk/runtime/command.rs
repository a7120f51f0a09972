use serde::Serialize;

use crate::message::Role;
use crate::{Error, Result, RunRequest, Text};

/// What a runtime is told to do. Serialised it is `{"type": "send", "message": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum RuntimeCommand {
    /// The user says something.
    Send {
        /// The text of it; empty where a message has none, only files.
        message: Text,
    },
}

impl RuntimeCommand {
    /// The command that a request stands for: to take the last thing that the user says in it.
    ///
    /// # Errors
    ///
    /// When the user says nothing in it.
    ///
    /// ```
    /// use omniassist_core::RunRequest;
    /// use omniassist_core::dialect::ai_sdk::runtime::RuntimeCommand;
    ///
    /// let command = RuntimeCommand::send(&RunRequest::prompt("Hello"))?;
    /// assert_eq!(serde_json::to_string(&command)?, r#"{"type":"send","message":"Hello"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send(request: &RunRequest) -> Result<Self> {
        let message = request.messages.iter().rfind(|message| message.role == Role::User);
        let message =
            message.ok_or_else(|| Error::invalid_field("messages", "a message of the user's", "none"))?;
        Ok(Self::Send { message: message.text().into() })
    }
}
