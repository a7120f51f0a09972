use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::{ContextMessage, JsonText, Message, ModelOptions, Text, ToolChoice, ToolSpec};

/// A client's request: the conversation so far and its context.
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
    /// The chat, as the client names it. An address, not a credential.
    pub chat_id: Option<Text>,
    /// The whole conversation, oldest first.
    pub messages: Vec<Message>,
    /// Events of the application.
    pub context: Vec<ContextMessage>,
    /// Front-end tools that the client declares for this run.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Names of tools that the client ran in this conversation and does not offer now. What it posts as their outputs
    /// is its own, and the model is not told of them. A server tool is none of them, whatever stands here. Default:
    /// none.
    pub past_tools: Vec<Text>,
    /// The user's action behind the request.
    pub trigger: Trigger,
    /// The message that the trigger is about.
    pub message_id: Option<Text>,
    /// The state that client and server share, as the client has it. Default: none.
    pub state: Option<JsonText>,
    /// Data of the client's application that is not meant for the model. Default: none.
    pub forwarded: Option<JsonText>,
    /// The fields of the body that the format does not define, as the client wrote them. They come from the client, so
    /// they carry no authority. At most [`Limits::max_extra_fields`](crate::Limits::max_extra_fields). Default: none.
    pub extra: BTreeMap<Text, JsonText>,
    /// Ids of the calls that the client posted as [`FunctionCall`](crate::FunctionCall) records. A record of a front-end
    /// tool needs no seal: its output counts as the client's own. Default: none.
    pub recorded_calls: BTreeSet<Text>,
    /// Indexes of the posted messages that were left out because their role is unknown. Default: none.
    pub skipped_messages: Vec<usize>,
    /// The abilities of the client. Default: all.
    pub abilities: ClientAbilities,
    /// Settings of the model for this run. Set by the host, never by a client. Default: the assistant's.
    pub options: Option<Arc<ModelOptions>>,
    /// Which tools the model is offered, and whether it has to call one. Default: all, and it decides.
    pub tool_use: ToolUse,
    /// Calls of the last message that the client's user has answered, or is asked about, and whose answer does not count:
    /// their parts are errors, and the run tells the client so. Set by [`verify::history`](crate::verify::history), never
    /// by a client. Default: none.
    pub unaccepted: Vec<Text>,
}

impl RunRequest {
    /// A request with a conversation and nothing else.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Something the user says, with nothing before it.
    #[must_use]
    pub fn prompt(text: impl Into<Text>) -> Self {
        Self::new(vec![Message::user("msg-1", text)])
    }
}

/// The abilities of a client, which depend on its wire format. The run loop reports a missing ability to the model, and
/// no call waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ClientAbilities {
    /// `true` if it can ask its user to approve a call.
    pub approvals: bool,
    /// `true` if it can show a form and return the answer.
    pub forms: bool,
    /// `true` if it runs front-end tools that the server registered.
    pub front_end_tools: bool,
    /// `true` if its format returns the seals of the server. Without seals, the outputs of the client's own tools are
    /// accepted as posted. Everything else still needs a proof, and is therefore not accepted.
    pub seals: bool,
}

impl ClientAbilities {
    /// A client that shows text and can do nothing else.
    #[must_use]
    pub const fn none() -> Self {
        Self { approvals: false, forms: false, front_end_tools: false, seals: true }
    }

    /// The same client, in a format that cannot bring back what the server sealed.
    #[must_use]
    pub const fn without_seals(mut self) -> Self {
        self.seals = false;
        self
    }
}

impl Default for ClientAbilities {
    /// A client that can do everything.
    fn default() -> Self {
        Self { approvals: true, forms: true, front_end_tools: true, seals: true }
    }
}

/// The tools that a model may use in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// `true` if tools that the server runs are offered. Default: `true`.
    pub server_tools: bool,
    /// The choice of tools for each model call of the run. Default: the model decides. If a server tool is required,
    /// the model calls it until the limit of steps; set `server_tools` to `false` if a call is required.
    pub choice: ToolChoice,
}

impl Default for ToolUse {
    /// All tools, and the model decides.
    fn default() -> Self {
        Self { server_tools: true, choice: ToolChoice::Auto }
    }
}

impl ToolUse {
    /// No server tools. What the client declares is offered.
    #[must_use]
    pub const fn without_server_tools() -> Self {
        Self { server_tools: false, choice: ToolChoice::Auto }
    }
}

/// The user's action behind a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Trigger {
    /// A new or edited message, or the results of front-end tools.
    #[default]
    Submit,
    /// The same question again.
    Regenerate,
}
