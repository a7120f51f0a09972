use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use http::Extensions;
use omniassist_core::bridge::{AgentCommand, AgentEvent, Skipped};
use omniassist_core::{RunRequest, Text};

use crate::{BoxError, Principal};

/// The stream of a runtime's events. An event that [`AgentEvent::parse`] cannot read is logged, and the stream continues.
///
/// Dropping it ends the subscription.
pub type AgentEvents = Pin<Box<dyn Stream<Item = Result<AgentEvent, Skipped>> + Send>>;

/// An agent runtime of the host.
///
/// For each posted message, the bridge subscribes and then dispatches, so that no event is missed. It drops the
/// subscription when the answer is complete or the client disconnects. A runtime that should stop then must detect the
/// dropped subscription.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent runtime",
    note = "implement `AgentRuntime`: `subscribe` returns the events of a run, `dispatch` starts it"
)]
pub trait AgentRuntime: Send + Sync + 'static {
    /// Subscribes to the events of this run. Several runs can be in progress at the same time.
    fn subscribe(&self, run: &BridgeRun) -> AgentEvents;

    /// Starts the work for a command. It must return at once; spawn a task for work that takes time.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime refuses the command. The error is logged; the client gets a general error.
    fn dispatch(&self, run: &BridgeRun, command: AgentCommand) -> Result<(), BoxError>;

    /// Subscribes again to the run in progress of this chat, for a client that lost its connection. `extensions` are those
    /// of the client's request; the runtime must check that the client may read the chat.
    ///
    /// Default: `None`, which means that there is no such run.
    fn reconnect(&self, chat_id: &str, extensions: &Extensions) -> Option<Reconnected> {
        let _ = (chat_id, extensions);
        None
    }
}

impl<R: AgentRuntime + ?Sized> AgentRuntime for Arc<R> {
    fn subscribe(&self, run: &BridgeRun) -> AgentEvents {
        (**self).subscribe(run)
    }

    fn dispatch(&self, run: &BridgeRun, command: AgentCommand) -> Result<(), BoxError> {
        (**self).dispatch(run, command)
    }

    fn reconnect(&self, chat_id: &str, extensions: &Extensions) -> Option<Reconnected> {
        (**self).reconnect(chat_id, extensions)
    }
}

/// One posted message, and the answer to it.
#[derive(Clone)]
#[non_exhaustive]
pub struct BridgeRun {
    /// The id of the assistant message. It is unique within the chat, unless the run continues a message.
    pub message_id: Text,
    /// The posted request. If its last message is the assistant's, the run continues that message, and the command holds
    /// the user message before it.
    pub request: RunRequest,
    /// The extensions of the HTTP request.
    pub extensions: Extensions,
}

impl BridgeRun {
    /// Creates a run, for tests of an [`AgentRuntime`].
    #[must_use]
    pub fn new(message_id: impl Into<Text>, request: RunRequest, extensions: Extensions) -> Self {
        Self { message_id: message_id.into(), request, extensions }
    }

    /// Returns the principal of the run: the [`Principal`] in the extensions.
    #[must_use]
    pub fn principal(&self) -> Principal {
        self.extensions.get().cloned().unwrap_or_default()
    }
}

impl fmt::Debug for BridgeRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeRun").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}

/// A run that a client has reconnected to.
pub struct Reconnected {
    /// The id of the message, as in its [`BridgeRun`].
    pub message_id: Text,
    /// All events of the run from the first one, because the client rebuilds the message.
    pub events: AgentEvents,
}

impl fmt::Debug for Reconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnected").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}
