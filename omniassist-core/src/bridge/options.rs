use std::fmt;
use std::sync::Arc;

use crate::Text;
use crate::dialect::ai_sdk::{Encoder, Framing};

/// Options for the events that clients see.
///
/// ```
/// use omniassist_core::bridge::BridgeOptions;
///
/// let options = BridgeOptions::new().send_flow_metadata(true).generate_message_id(|| "m-1".into());
/// assert_eq!(options.new_message_id().unwrap(), "m-1");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct BridgeOptions {
    pub(super) send_reasoning: bool,
    pub(super) send_step_markers: bool,
    pub(super) send_flow_metadata: bool,
    pub(super) send_node_outputs: bool,
    pub(super) until_flow_ends: bool,
    pub(super) end_at_error: bool,
    literal_step_start: bool,
    generate_message_id: Option<MessageIds>,
}

impl BridgeOptions {
    /// Creates the default options.
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

    /// Sets whether thinking is shown, as reasoning parts. Default: `true`.
    pub fn send_reasoning(mut self, send: bool) -> Self {
        self.send_reasoning = send;
        self
    }

    /// Sets whether nodes are shown, as steps. Default: `true`.
    pub fn send_step_markers(mut self, send: bool) -> Self {
        self.send_step_markers = send;
        self
    }

    /// Sets whether the status of the flow is shown, as `data-flow-status` parts. Default: `false`.
    pub fn send_flow_metadata(mut self, send: bool) -> Self {
        self.send_flow_metadata = send;
        self
    }

    /// Sets whether the outputs of nodes are shown, as `data-node-output` parts. Default: `false`, because such outputs
    /// are often not intended for users.
    pub fn send_node_outputs(mut self, send: bool) -> Self {
        self.send_node_outputs = send;
        self
    }

    /// Sets whether the message continues until the flow ends. Default: `false`; it ends with the first
    /// `agent:complete` or `agent:paused`.
    ///
    /// A flow of several agents needs this. So does `data-node-output`, because runtimes report a node as complete
    /// after its agent. The message then ends with `flow:complete`, `flow:paused` or `agent:aborted`. If the runtime
    /// sends none of these, clients wait until its stream of events ends.
    pub fn until_flow_ends(mut self, until: bool) -> Self {
        self.until_flow_ends = until;
        self
    }

    /// Sets whether `agent:error` ends the message. Default: `false`; later events are still written, although
    /// `useChat` stops reading at an `error` chunk. Set it for a dialect in which an error is the last event (AG-UI).
    pub fn end_at_error(mut self, end: bool) -> Self {
        self.end_at_error = end;
        self
    }

    /// Sets whether the chunk that begins a step is named `step-start`. Default: `false`; it is named `start-step`,
    /// which versions 5, 6 and 7 of the AI SDK expect. They fail at `step-start`; use it only for a client that was
    /// written for that name.
    pub fn literal_step_start(mut self, literal: bool) -> Self {
        self.literal_step_start = literal;
        self
    }

    /// Sets the function that generates message ids. Each call must return a different id. Default: the server's bridge
    /// generates random ids.
    pub fn generate_message_id(mut self, generate: impl Fn() -> Text + Send + Sync + 'static) -> Self {
        self.generate_message_id = Some(MessageIds(Arc::new(generate)));
        self
    }

    /// Returns a new message id, or `None` if no generator is set.
    #[must_use]
    pub fn new_message_id(&self) -> Option<Text> {
        self.generate_message_id.as_ref().map(|ids| (ids.0)())
    }

    /// Returns an encoder for these options.
    #[must_use]
    pub fn encoder(&self, framing: Framing) -> Encoder {
        Encoder::new(framing).literal_step_start(self.literal_step_start)
    }
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A generator of message ids.
#[derive(Clone)]
struct MessageIds(Arc<dyn Fn() -> Text + Send + Sync>);

impl fmt::Debug for MessageIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageIds")
    }
}
