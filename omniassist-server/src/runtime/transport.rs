use std::fmt;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::dialect::ai_sdk::runtime::{MessageAccumulator, RuntimeCommand, TransportOptions};
use omniassist_core::message::Role;
use omniassist_core::{Limits, RunRequest, Text};
use uuid::Uuid;

use super::{Runtime, RuntimeRun, RuntimeStream};

/// Carries messages to a [`Runtime`], and its events back. Cloning is cheap.
///
/// See the [module](super) for an example.
#[derive(Clone)]
pub struct RuntimeTransport {
    runtime: Arc<dyn Runtime>,
    options: TransportOptions,
    limits: Arc<Limits>,
}

impl RuntimeTransport {
    /// A transport to this runtime, with the default [`Limits`].
    #[must_use]
    pub fn new(runtime: impl Runtime, options: TransportOptions) -> Self {
        Self { runtime: Arc::new(runtime), options, limits: Arc::default() }
    }

    /// Sets what HTTP requests and responses are held to: the size of a body and what is in it, `keep_alive`, and
    /// `write_timeout`. Default: those of [`Limits::default`]. How long a run may take is for the runtime to decide.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// What HTTP requests and responses are held to.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What a client is shown.
    pub fn options(&self) -> &TransportOptions {
        &self.options
    }

    /// Tells the runtime what the user says last, and gives what comes of its events.
    ///
    /// The runtime is subscribed to, and then told, before this returns. A runtime that refuses gives a stream that
    /// fails.
    ///
    /// # Errors
    ///
    /// When the user says nothing in the request.
    pub fn send_messages(
        &self,
        request: RunRequest,
        extensions: Extensions,
    ) -> Result<RuntimeStream, omniassist_core::Error> {
        let command = RuntimeCommand::send(&request)?;
        let accumulator = match request.messages.last() {
            Some(message) if message.role == Role::Assistant => {
                MessageAccumulator::continuing(message, &self.options)
            }
            _ => MessageAccumulator::new(self.new_message_id(), &self.options),
        };
        let run = RuntimeRun { message_id: accumulator.message_id().clone(), request, extensions };
        let stream = RuntimeStream::new(accumulator, self.options.clone(), self.runtime.subscribe(&run));
        match self.runtime.dispatch(&run, command) {
            Ok(()) => Ok(stream),
            Err(error) => {
                tracing::error!(message_id = %run.message_id, error = &*error as &(dyn std::error::Error + 'static), "the runtime does not take the message");
                Ok(stream.failed())
            }
        }
    }

    /// Goes back to the run that goes on in this chat; `None` when there is none, and always with a runtime that does
    /// not implement [`Runtime::reconnect`].
    #[must_use]
    pub fn reconnect_to_stream(&self, chat_id: &str, extensions: &Extensions) -> Option<RuntimeStream> {
        let run = self.runtime.reconnect(chat_id, extensions)?;
        let accumulator = MessageAccumulator::new(run.message_id, &self.options);
        Some(RuntimeStream::new(accumulator, self.options.clone(), run.events))
    }

    fn new_message_id(&self) -> Text {
        let random = || format!("msg_{}", Uuid::now_v7().simple()).into();
        self.options.new_message_id().unwrap_or_else(random)
    }
}

impl fmt::Debug for RuntimeTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeTransport").field("options", &self.options).finish_non_exhaustive()
    }
}
