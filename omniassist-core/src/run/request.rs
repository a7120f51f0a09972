use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{ContextMessage, JsonText, Message, ModelOptions, Text, ToolChoice, ToolSpec};

/// A client's request: the conversation and its context.
///
/// ```
/// use omniassist_core::{Message, RunRequest};
///
/// let request = RunRequest::new(vec![Message::user("m1", "Hello")]);
/// assert!(request.chat_id.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The chat id, chosen by the client. It is an address, not a credential.
    pub chat_id: Option<Text>,
    /// The complete conversation, oldest message first. While [`awaits_history`](Self::awaits_history) is set, it
    /// contains at most the posted message.
    pub messages: Vec<Message>,
    /// `true` if the client posted the last message of a conversation that the host stores. A run needs the messages
    /// before it: see [`add_history`](Self::add_history). Default: `false`.
    pub awaits_history: bool,
    /// The number of messages, at the beginning, that come from the host's store. Set by
    /// [`add_history`](Self::add_history), never by a client. Default: 0.
    pub loaded_messages: usize,
    /// Events of the application.
    pub context: Vec<ContextMessage>,
    /// Front-end tools that the client declares for this run.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Names of the components that the client shows. Default: `None`, for all.
    pub components: Option<Vec<Text>>,
    /// Names of tools that the client ran earlier in this conversation and does not offer now. Their posted outputs
    /// count as the client's own, and the model is not offered these tools. A server tool is never one of them, even if
    /// its name is listed. Default: none.
    pub past_tools: Vec<Text>,
    /// The user's action that caused the request.
    pub trigger: Trigger,
    /// The message to which the trigger applies.
    pub message_id: Option<Text>,
    /// The client's copy of the state that client and server share. Default: none.
    pub state: Option<JsonText>,
    /// Data of the client's application that is not passed to the model. Default: none.
    pub forwarded: Option<JsonText>,
    /// The fields of the body that the format does not define, as posted. They come from the client, so they carry no
    /// authority. At most [`Limits::max_extra_fields`](crate::Limits::max_extra_fields). Default: none.
    pub extra: BTreeMap<Text, JsonText>,
    /// Ids of the calls that the client posted as [`FunctionCall`](crate::FunctionCall) records. A record of a
    /// front-end tool needs no seal: its output counts as the client's own. Default: none.
    pub recorded_calls: BTreeSet<Text>,
    /// Indexes of the posted messages that were dropped because of an unknown role. Default: none.
    pub skipped_messages: Vec<usize>,
    /// The abilities of the client. Default: all.
    pub abilities: ClientAbilities,
    /// Model settings for this run, set by the host and never by a client. Default: those of the assistant.
    pub options: Option<Arc<ModelOptions>>,
    /// The tools offered to the model, and the choice among them. Default: all, and the model decides.
    pub tool_use: ToolUse,
    /// Calls of the last message whose answer by the user, or whose open question, is not accepted. Their parts are
    /// errors, and the run reports them to the client. [`verify::history`](crate::verify::history) sets this field,
    /// never a client. Default: none.
    pub unaccepted: Vec<Text>,
    /// Calls of the last message whose tools run again first: an agent or a form that they asked for waited for the user,
    /// and has its answers. Set by the host, never by a client. Default: none.
    pub resumed_calls: Vec<ResumedCall>,
    /// Ids of calls that asked agents made, which the messages do not contain. Set by the host, never by a client.
    /// Default: none.
    pub asked_calls: Vec<Text>,
}

/// A call that has run, has asked the user, and runs again with the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumedCall {
    /// The call. Its part has the arguments with which it ran, and is no open question.
    pub call_id: Text,
    /// The proof that the server left the call open, which the client returned. `None` if a store has recorded it.
    pub proof: Option<Text>,
}

impl RunRequest {
    /// Creates a request from a conversation.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Creates a request with one user message.
    #[must_use]
    pub fn prompt(text: impl Into<Text>) -> Self {
        Self::new(vec![Message::user("msg-1", text)])
    }
}

/// The abilities of a client, which depend on its wire format. If an ability is missing, the run loop reports that to
/// the model and does not wait for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ClientAbilities {
    /// `true` if the client can ask its user to approve a call.
    pub approvals: bool,
    /// `true` if the client can show a form and return the input.
    pub forms: bool,
    /// `true` if the client runs front-end tools that the server registered.
    pub front_end_tools: bool,
    /// `true` if the format returns the server's seals. Without seals, the outputs of the client's own tools are
    /// accepted as posted. Everything else still needs a proof, and is therefore not accepted.
    pub seals: bool,
    /// `true` if the client shows components. Without them, it gets those that have a text as text.
    pub components: bool,
}

impl ClientAbilities {
    /// Returns a client that can only display text.
    #[must_use]
    pub const fn none() -> Self {
        Self { approvals: false, forms: false, front_end_tools: false, seals: true, components: false }
    }

    /// Returns the same client with a format that cannot return the server's seals.
    #[must_use]
    pub const fn without_seals(mut self) -> Self {
        self.seals = false;
        self
    }
}

impl Default for ClientAbilities {
    /// Returns a client with all abilities.
    fn default() -> Self {
        Self { approvals: true, forms: true, front_end_tools: true, seals: true, components: true }
    }
}

/// The tools that a model may use in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolUse {
    /// `true` if tools that the server runs are offered. Default: `true`.
    pub server_tools: bool,
    /// The choice of tools for each model call of the run. Default: the model decides. A required server tool is called
    /// until the limit of steps; set `server_tools` to `false` to require a call.
    pub choice: ToolChoice,
}

impl Default for ToolUse {
    /// Offers all tools, and the model decides.
    fn default() -> Self {
        Self { server_tools: true, choice: ToolChoice::Auto }
    }
}

impl ToolUse {
    /// Offers no server tools, only those that the client declares.
    #[must_use]
    pub const fn without_server_tools() -> Self {
        Self { server_tools: false, choice: ToolChoice::Auto }
    }
}

/// The user's action that caused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Trigger {
    /// A new or edited message, or the results of front-end tools.
    #[default]
    Submit,
    /// Another answer to the same question.
    Regenerate,
}
