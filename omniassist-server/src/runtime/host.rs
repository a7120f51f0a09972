use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use http::Extensions;
use omniassist_core::dialect::ai_sdk::runtime::{RuntimeCommand, RuntimeEvent, Skipped};
use omniassist_core::{RunRequest, Text};

use crate::Principal;

/// An error of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A runtime's events, as they come. An event that could not be read
/// ([`RuntimeEvent::parse`]) is logged, and the stream goes on.
///
/// Dropping it unsubscribes.
pub type RuntimeEvents = Pin<Box<dyn Stream<Item = Result<RuntimeEvent, Skipped>> + Send>>;

/// A runtime of the host's own.
///
/// For each message that a client posts, the transport subscribes first and dispatches then, so that no event is
/// missed. The subscription is dropped as soon as the answer is over, and when the client leaves; a runtime that is to
/// stop then must notice by that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a runtime",
    note = "implement `Runtime`: `subscribe` gives the events of a run, `dispatch` makes it happen"
)]
pub trait Runtime: Send + Sync + 'static {
    /// Listens to what this run causes, and to nothing else: several runs go on at the same time.
    fn subscribe(&self, run: &RuntimeRun) -> RuntimeEvents;

    /// Takes a command. It returns at once; what takes time belongs into a task.
    ///
    /// # Errors
    ///
    /// When the runtime cannot take it. The client is told that something failed and not what; the error is logged.
    fn dispatch(&self, run: &RuntimeRun, command: RuntimeCommand) -> Result<(), BoxError>;

    /// Listens again to the run that goes on in this chat, for a client that has lost its connection. Who may see that
    /// chat is for the runtime to know: `extensions` are those of the client's request.
    ///
    /// Default: `None`, there is nothing to go back to.
    fn reconnect(&self, chat_id: &str, extensions: &Extensions) -> Option<Reconnected> {
        let _ = (chat_id, extensions);
        None
    }
}

impl<R: Runtime + ?Sized> Runtime for Arc<R> {
    fn subscribe(&self, run: &RuntimeRun) -> RuntimeEvents {
        (**self).subscribe(run)
    }

    fn dispatch(&self, run: &RuntimeRun, command: RuntimeCommand) -> Result<(), BoxError> {
        (**self).dispatch(run, command)
    }

    fn reconnect(&self, chat_id: &str, extensions: &Extensions) -> Option<Reconnected> {
        (**self).reconnect(chat_id, extensions)
    }
}

/// One posted message on its way through a runtime.
#[derive(Clone)]
#[non_exhaustive]
pub struct RuntimeRun {
    /// Id of the assistant message that is written. No other run of this chat has it, unless the client lets that
    /// message go on.
    pub message_id: Text,
    /// What the client asks for. Where its last message is the assistant's, that message goes on, and the command names
    /// what the user said before it.
    pub request: RunRequest,
    /// The extensions of the HTTP request.
    pub extensions: Extensions,
}

impl RuntimeRun {
    /// A run, for tests of a [`Runtime`].
    #[must_use]
    pub fn new(message_id: impl Into<Text>, request: RunRequest, extensions: Extensions) -> Self {
        Self { message_id: message_id.into(), request, extensions }
    }

    /// Who the run is for: the [`Principal`] among the extensions.
    #[must_use]
    pub fn principal(&self) -> Principal {
        self.extensions.get().cloned().unwrap_or_default()
    }
}

impl fmt::Debug for RuntimeRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeRun").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}

/// A run that a client has come back to.
pub struct Reconnected {
    /// Id of the message: that of the [`RuntimeRun`] it began as.
    pub message_id: Text,
    /// Its events, from the first on: the client builds the message anew.
    pub events: RuntimeEvents,
}

impl fmt::Debug for Reconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnected").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}
