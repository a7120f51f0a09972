use std::fmt;
use std::sync::Arc;

use crate::Text;
use crate::dialect::ai_sdk::{Encoder, Framing};

/// What of a runtime's events a client is shown, and how.
///
/// ```
/// use omniassist_core::dialect::ai_sdk::runtime::TransportOptions;
///
/// let options = TransportOptions::new().send_flow_metadata(true).generate_message_id(|| "m-1".into());
/// assert_eq!(options.new_message_id().unwrap(), "m-1");
/// ```
#[derive(Clone)]
#[must_use]
pub struct TransportOptions {
    pub(super) send_reasoning: bool,
    pub(super) send_step_markers: bool,
    pub(super) send_flow_metadata: bool,
    pub(super) send_node_outputs: bool,
    pub(super) until_flow_ends: bool,
    pub(super) end_at_error: bool,
    literal_step_start: bool,
    generate_message_id: Option<Arc<dyn Fn() -> Text + Send + Sync>>,
}

impl TransportOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            send_reasoning: true,
            send_step_markers: true,
            send_flow_metadata: false,
            send_node_outputs: false,
            until_flow_ends: false,
            end_at_error: false,
            literal_step_start: false,
            generate_message_id: None,
        }
    }

    /// Whether thinking is shown, as reasoning parts. Default `true`.
    pub fn send_reasoning(mut self, send: bool) -> Self {
        self.send_reasoning = send;
        self
    }

    /// Whether nodes are shown, as steps. Default `true`.
    pub fn send_step_markers(mut self, send: bool) -> Self {
        self.send_step_markers = send;
        self
    }

    /// Whether the client is told where the flow stands, by `data-flow-status` parts. Default `false`.
    pub fn send_flow_metadata(mut self, send: bool) -> Self {
        self.send_flow_metadata = send;
        self
    }

    /// Whether the client gets what nodes give to each other, by `data-node-output` parts. Default `false`: such
    /// outputs are often not meant for a user's eyes.
    pub fn send_node_outputs(mut self, send: bool) -> Self {
        self.send_node_outputs = send;
        self
    }

    /// Whether the message lasts as long as the flow. Default `false`: it ends with the first `agent:complete` or
    /// `agent:paused`.
    ///
    /// A flow of several agents needs this, and so does `data-node-output`, since runtimes report a node as complete
    /// after its agent. With it the message ends with `flow:complete`, `flow:paused` or `agent:aborted`; a runtime that
    /// sends none of these leaves its clients waiting until its stream of events ends.
    pub fn until_flow_ends(mut self, until: bool) -> Self {
        self.until_flow_ends = until;
        self
    }

    /// Whether `agent:error` ends the message. Default `false`: what follows is still written, although `useChat`
    /// stops reading at an `error` chunk. Set it for a dialect that allows nothing behind an error (AG-UI).
    pub fn end_at_error(mut self, end: bool) -> Self {
        self.end_at_error = end;
        self
    }

    /// Whether the chunk that begins a step is called `step-start`. Default `false`: it is called `start-step`, as
    /// versions 5, 6 and 7 of the AI SDK know it. They end the stream with an error at `step-start`; only a client
    /// written for that name can read it.
    pub fn literal_step_start(mut self, literal: bool) -> Self {
        self.literal_step_start = literal;
        self
    }

    /// Sets where the ids of messages come from: each call must give another one. Default: the transport draws random
    /// ones (this crate draws no random numbers).
    pub fn generate_message_id(mut self, generate: impl Fn() -> Text + Send + Sync + 'static) -> Self {
        self.generate_message_id = Some(Arc::new(generate));
        self
    }

    /// A new id of a message, by what was set for that.
    #[must_use]
    pub fn new_message_id(&self) -> Option<Text> {
        self.generate_message_id.as_ref().map(|generate| generate())
    }

    /// An encoder that writes what these options ask for.
    #[must_use]
    pub fn encoder(&self, framing: Framing) -> Encoder {
        Encoder::new(framing).literal_step_start(self.literal_step_start)
    }
}

impl Default for TransportOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TransportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportOptions")
            .field("send_reasoning", &self.send_reasoning)
            .field("send_step_markers", &self.send_step_markers)
            .field("send_flow_metadata", &self.send_flow_metadata)
            .field("send_node_outputs", &self.send_node_outputs)
            .field("until_flow_ends", &self.until_flow_ends)
            .field("end_at_error", &self.end_at_error)
            .field("literal_step_start", &self.literal_step_start)
            .finish_non_exhaustive()
    }
}
