use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Approval, ProviderMetadata, file_url};
use crate::event::Source;
use crate::{Error, JsonText, Result, Text};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Unique within the conversation.
    pub id: Text,
    /// The speaker.
    pub role: Role,
    /// The content, in order.
    pub parts: Vec<Part>,
    /// Data that the client stores with the message.
    pub metadata: Option<Value>,
}

impl Message {
    /// Creates a user message with one text part.
    #[must_use]
    pub fn user(id: impl Into<Text>, text: impl Into<Text>) -> Self {
        Self { id: id.into(), role: Role::User, parts: vec![Part::text(text)], metadata: None }
    }

    /// Creates an assistant message with one text part.
    #[must_use]
    pub fn assistant(id: impl Into<Text>, text: impl Into<Text>) -> Self {
        Self { id: id.into(), role: Role::Assistant, parts: vec![Part::text(text)], metadata: None }
    }

    /// Returns all text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Checks that a model can read the message: it has non-blank text or a file, and every file has a `data:` URL, a
    /// web URL, or that of a [stored file](super::stored_file_id). `path` is the path of the message.
    pub(crate) fn check_readable(&self, path: &str) -> Result<()> {
        let mut readable = false;
        for part in &self.parts {
            match part {
                Part::Text(part) => readable |= !part.text.trim().is_empty(),
                Part::File(file)
                    if !file_url::is_allowed(&file.url) && file_url::stored_file_id(&file.url).is_none() =>
                {
                    let expected = "files with a data:, https: or http: URL that is not link-local";
                    return Err(Error::invalid_field(path, expected, "another URL"));
                }
                Part::File(_) => readable = true,
                _ => {}
            }
        }
        if readable {
            return Ok(());
        }
        Err(Error::invalid_field(path, "a message with text or a file", "nothing that a model can read"))
    }

    /// Returns the index of the first part whose calls the client may answer: the start of the last step. A step that has
    /// only calls of asked agents ([`ToolPart::asked_by`]) belongs to the step before.
    #[must_use]
    pub fn last_step(&self) -> usize {
        let mut end = self.parts.len();
        loop {
            let parts = self.parts.get(..end).unwrap_or_default();
            let start = parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap_or(0);
            let mut asked = false;
            let is_own = self.parts.get(start..end).unwrap_or_default().iter().any(|part| match part {
                Part::Tool(tool) if tool.asked_by().is_some() => {
                    asked = true;
                    false
                }
                Part::StepStart | Part::Data(_) => false,
                _ => true,
            });
            if is_own || !asked || start == 0 {
                return start;
            }
            end = start;
        }
    }

    /// Returns the tool calls of the message.
    pub fn tools(&self) -> impl Iterator<Item = &ToolPart> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        })
    }
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The assistant.
    Assistant,
    /// Instructions. Those posted by a client are never used as instructions.
    System,
}

/// One part of a [`Message`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Visible text.
    Text(TextPart),
    /// The model's reasoning.
    Reasoning(ReasoningPart),
    /// A file.
    File(FilePart),
    /// A source (citation) of the answer.
    Source(SourcePart),
    /// A tool call, with its output if there is one.
    Tool(ToolPart),
    /// Data of the host application.
    Data(DataPart),
    /// The start of a model call.
    StepStart,
    /// A part of an unknown kind, kept unchanged.
    Unknown(JsonText),
}

impl Part {
    /// Creates a text part.
    #[must_use]
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(TextPart { text: text.into(), metadata: None })
    }
}

/// Visible text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPart {
    /// The text.
    pub text: Text,
    /// State of the provider.
    pub metadata: Option<ProviderMetadata>,
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningPart {
    /// The visible text; may be empty.
    pub text: Text,
    /// State of the provider, such as encrypted content or a signature.
    pub metadata: Option<ProviderMetadata>,
}

/// A file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePart {
    /// Its media type.
    pub media_type: Text,
    /// An `https:` or `data:` URL, or that of a [stored file](super::stored_file_id). This crate never fetches it.
    pub url: Text,
    /// Its name.
    pub filename: Option<Text>,
    /// State of the provider.
    pub metadata: Option<ProviderMetadata>,
}

/// A source (citation) of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePart {
    /// The page or document.
    pub source: Source,
    /// State of the provider.
    pub metadata: Option<ProviderMetadata>,
}

/// Data of the host application.
#[derive(Debug, Clone, PartialEq)]
pub struct DataPart {
    /// Its kind, without the `data-` prefix.
    pub name: Text,
    /// Its id.
    pub id: Option<Text>,
    /// The data.
    pub data: JsonText,
}

/// A tool call in one of its states.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolPart {
    /// Unique within the conversation.
    pub call_id: Text,
    /// The tool.
    pub name: Text,
    /// `true` if the client has no type for the tool (`dynamic-tool`).
    pub dynamic: bool,
    /// `true` if the provider executed the call.
    pub provider_executed: bool,
    /// The state of the call.
    pub state: ToolState,
    /// State of the provider.
    pub metadata: Option<ProviderMetadata>,
}

impl ToolPart {
    /// Returns the id of the call by which the agent of this call was asked. `None` for a call of the agent that has the
    /// conversation.
    #[must_use]
    pub fn asked_by(&self) -> Option<&str> {
        let (_, asked_by) = self.metadata.as_ref()?.own_text(ProviderMetadata::AGENT)?.split_once(' ')?;
        Some(asked_by)
    }
}

/// The state of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolState {
    /// The arguments are being streamed, or incomplete.
    InputStreaming,
    /// The call has its arguments and no output.
    InputAvailable {
        /// The arguments.
        input: JsonText,
    },
    /// The call awaits approval.
    ApprovalRequested {
        /// The arguments.
        input: JsonText,
        /// The request for approval.
        approval: Approval,
    },
    /// The user approved or denied the call.
    ApprovalResponded {
        /// The arguments.
        input: JsonText,
        /// The request and the answer.
        approval: Approval,
    },
    /// The call has run.
    OutputAvailable {
        /// The arguments.
        input: JsonText,
        /// The output.
        output: JsonText,
        /// `true` for progress, `false` for the final output.
        preliminary: bool,
    },
    /// The call failed, or could not run.
    OutputError {
        /// The arguments, if they could be read.
        input: Option<JsonText>,
        /// The reason.
        error_text: Text,
    },
    /// The user denied the call.
    OutputDenied {
        /// The arguments.
        input: JsonText,
        /// The request and the answer.
        approval: Approval,
    },
}

impl ToolState {
    /// Returns the arguments, if there are any.
    #[must_use]
    pub fn input(&self) -> Option<&JsonText> {
        match self {
            Self::InputStreaming => None,
            Self::InputAvailable { input }
            | Self::ApprovalRequested { input, .. }
            | Self::ApprovalResponded { input, .. }
            | Self::OutputAvailable { input, .. }
            | Self::OutputDenied { input, .. } => Some(input),
            Self::OutputError { input, .. } => input.as_ref(),
        }
    }

    /// Returns the arguments, if there are any.
    pub(crate) fn input_mut(&mut self) -> Option<&mut JsonText> {
        match self {
            Self::InputStreaming => None,
            Self::InputAvailable { input }
            | Self::ApprovalRequested { input, .. }
            | Self::ApprovalResponded { input, .. }
            | Self::OutputAvailable { input, .. }
            | Self::OutputDenied { input, .. } => Some(input),
            Self::OutputError { input, .. } => input.as_mut(),
        }
    }

    /// Returns `true` if the call has a result, whether an output or an error.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        match self {
            Self::OutputAvailable { preliminary, .. } => !preliminary,
            Self::OutputError { .. } | Self::OutputDenied { .. } => true,
            _ => false,
        }
    }
}
