use std::fmt;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::bridge::{AgentCommand, BridgeOptions, MessageAccumulator};
use omniassist_core::message::Role;
use omniassist_core::{Limits, RunRequest, Text};
use uuid::Uuid;

use super::{AgentRuntime, BridgeRun, BridgeStream};
use crate::quota::Quota;
use crate::{clock, one_line};

/// Passes messages to an [`AgentRuntime`], and its events to the client. Cloning is cheap.
///
/// See the [module](super) for an example.
#[derive(Clone)]
pub struct Bridge {
    runtime: Arc<dyn AgentRuntime>,
    options: BridgeOptions,
    limits: Arc<Limits>,
    uploads: Arc<Quota>,
}

impl Bridge {
    /// Creates a bridge to this runtime, with the default [`Limits`].
    #[must_use]
    pub fn new(runtime: impl AgentRuntime, options: BridgeOptions) -> Self {
        Self { runtime: Arc::new(runtime), options, limits: Arc::default(), uploads: Arc::default() }
    }

    /// Sets the limits of HTTP requests and responses: those on bodies and their content, `keep_alive`, and
    /// `write_timeout`. The runtime limits the duration of a run. Default: [`Limits::default`]. A time of more than 30
    /// years counts as 30 years.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(clock::finite(limits));
        self
    }

    /// Returns the limits of HTTP requests and responses.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn uploads(&self) -> &Arc<Quota> {
        &self.uploads
    }

    /// Returns the options for the events that clients see.
    pub fn options(&self) -> &BridgeOptions {
        &self.options
    }

    /// Sends the last user message to the runtime, and returns the stream of its answer.
    ///
    /// The bridge subscribes and dispatches before this returns. If the runtime refuses, the stream fails.
    ///
    /// # Errors
    ///
    /// Returns an error if the request has no user message.
    pub fn send_messages(
        &self,
        request: RunRequest,
        extensions: Extensions,
    ) -> Result<BridgeStream, omniassist_core::Error> {
        let command = AgentCommand::send(&request)?;
        let accumulator = match request.messages.last() {
            Some(message) if message.role == Role::Assistant => {
                MessageAccumulator::continuing(message, &self.options)
            }
            _ => MessageAccumulator::new(self.new_message_id(), &self.options),
        };
        let run = BridgeRun { message_id: accumulator.message_id().clone(), request, extensions };
        let stream = BridgeStream::new(accumulator, self.options.clone(), self.runtime.subscribe(&run));
        match self.runtime.dispatch(&run, command) {
            Ok(()) => Ok(stream),
            Err(error) => {
                tracing::error!(
                    message_id = run.message_id.as_str(),
                    error = %one_line::chain(&*error),
                    "the agent runtime refused the message"
                );
                Ok(stream.failed())
            }
        }
    }

    /// Reconnects to the run in progress of this chat. Returns `None` if there is none, or if the runtime does not
    /// implement [`AgentRuntime::reconnect`].
    #[must_use]
    pub fn reconnect_to_stream(&self, chat_id: &str, extensions: &Extensions) -> Option<BridgeStream> {
        let run = self.runtime.reconnect(chat_id, extensions)?;
        let accumulator = MessageAccumulator::new(run.message_id, &self.options);
        Some(BridgeStream::new(accumulator, self.options.clone(), run.events))
    }

    fn new_message_id(&self) -> Text {
        let random = || format!("msg_{}", Uuid::now_v7().simple()).into();
        self.options.new_message_id().unwrap_or_else(random)
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").field("options", &self.options).finish_non_exhaustive()
    }
}
