use bytes::BytesMut;

use super::copy::ClientCopy;
use super::frame;
use super::outcome::Ask;
use crate::Text;
use crate::dialect::ag_ui::interrupt::Settled;
use crate::dialect::ag_ui::{Version, ids};
use crate::event::{AgentState, BlockId, Usage};
use crate::message::ProviderMetadata;

/// Response headers of an event stream, including those that keep proxies from changing or buffering it.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// The posted answer that a run continues.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::dialect::ag_ui) struct Continuation {
    /// The answer's id.
    pub(in crate::dialect::ag_ui) answer: Text,
    /// `true` if a message has exactly this id.
    pub(in crate::dialect::ag_ui) named: bool,
    /// The number of its last step.
    pub(in crate::dialect::ag_ui) step: u32,
    /// The first number that none of its messages uses.
    pub(in crate::dialect::ag_ui) next: u32,
    /// The tool messages of its calls.
    pub(in crate::dialect::ag_ui) results: Vec<(Text, Text)>,
    /// Provider state of its calls that have no result.
    pub(in crate::dialect::ag_ui) states: Vec<(Text, ProviderMetadata)>,
    /// Calls that the request settled by `resume`.
    pub(in crate::dialect::ag_ui) settled: Vec<Settled>,
}

/// Writes a run's events as AG-UI events. The [module](crate::dialect::ag_ui) documents the mapping.
///
/// The stream follows the protocol for any order of events: it begins with `RUN_STARTED`, closes each message and call
/// that it opens, and ends with `RUN_FINISHED` or `RUN_ERROR`.
#[derive(Debug, Clone)]
pub struct Encoder {
    pub(super) thread_id: Text,
    pub(super) run_id: Text,
    pub(super) parent_run_id: Option<Text>,
    pub(super) version: Version,
    pub(super) continuation: Continuation,
    pub(super) stage: Stage,
    pub(super) answer: Text,
    /// `true` if a message already has the answer's id.
    pub(super) named: bool,
    pub(super) step: u32,
    pub(super) step_is_open: bool,
    pub(super) next: u32,
    /// The message to which the next call belongs.
    pub(super) host: Option<Text>,
    pub(super) blocks: Vec<Block>,
    pub(super) calls: Vec<Call>,
    pub(super) asks: Vec<Ask>,
    /// The agents that the run has asked and that are still at work, each after the one that asked it.
    pub(super) agents: Vec<OpenAgent>,
    /// The ids of the agents that have ended.
    pub(super) ended_agents: Vec<Text>,
    pub(super) usage: Usage,
    /// The client's messages, if the encoder can write a snapshot.
    pub(super) copy: Option<Box<ClientCopy>>,
    /// `true` if the client must not take the response for the end of the run.
    pub(super) is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Fresh,
    Running,
    Ended,
}

/// An open text or piece of reasoning.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) id: BlockId,
    pub(super) is_reasoning: bool,
    pub(super) message_id: Text,
    /// The constant start of each delta frame.
    pub(super) head: BytesMut,
}

impl Block {
    /// Writes the start of the message.
    pub(super) fn start(&self, out: &mut BytesMut) {
        let message_id = &self.message_id;
        if self.is_reasoning {
            frame::write(out, "REASONING_START", |object| object.field("messageId", message_id));
            frame::write(out, "REASONING_MESSAGE_START", |object| {
                object.field("messageId", message_id).field("role", "reasoning")
            });
        } else {
            frame::write(out, "TEXT_MESSAGE_START", |object| {
                object.field("messageId", message_id).field("role", "assistant")
            });
        }
    }
}

/// An agent at work.
#[derive(Debug, Clone)]
pub(super) struct OpenAgent {
    pub(super) state: Box<AgentState>,
    /// The number of its messages. The first one has the id of the agent.
    pub(super) messages: u32,
    /// `true` if its last message is open.
    pub(super) is_writing: bool,
}

/// A call of this run.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: Text,
    /// The arguments sent to the client so far.
    pub(super) sent: String,
    /// The start of the arguments, while it may say that there are none.
    pub(super) held: String,
    pub(super) progress: Progress,
    pub(super) provider_executed: bool,
    pub(super) state: Option<ProviderMetadata>,
}

impl Call {
    pub(super) fn is_open(&self) -> bool {
        self.progress == Progress::Open
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its arguments are being streamed.
    Open,
    /// It has its arguments and no result.
    Whole,
    /// It has its result, possibly before its arguments.
    Answered,
}

impl Encoder {
    /// Returns an encoder at the start of a response to a client of this version. The ids are those from the request.
    /// [`Posted::encoder`](crate::dialect::ag_ui::Posted::encoder) returns one that can also continue an answer.
    #[must_use]
    pub fn new(thread_id: Text, run_id: Text, version: Version) -> Self {
        Self {
            thread_id,
            run_id,
            parent_run_id: None,
            version,
            continuation: Continuation::default(),
            stage: Stage::Fresh,
            answer: Text::new(),
            named: false,
            step: 0,
            step_is_open: false,
            next: 1,
            host: None,
            blocks: Vec::new(),
            calls: Vec::new(),
            asks: Vec::new(),
            agents: Vec::new(),
            ended_agents: Vec::new(),
            usage: Usage::default(),
            copy: None,
            is_cut: false,
        }
    }

    pub(in crate::dialect::ag_ui) fn continuing(
        self,
        parent_run_id: Option<Text>,
        continuation: Continuation,
    ) -> Self {
        Self { parent_run_id, continuation, ..self }
    }

    /// Returns the id of a new message of this answer.
    pub(super) fn further_id(&mut self) -> Text {
        let number = self.next;
        self.next = number.saturating_add(1);
        ids::further(&self.answer, self.step, number)
    }

    /// Returns the id of a new assistant message. The first one gets the answer's id, unless it is written after the
    /// first step: the reader assigns that id to the first step.
    pub(super) fn assistant_id(&mut self) -> Text {
        if self.named || self.step > 1 || self.answer.is_empty() {
            return self.further_id();
        }
        self.named = true;
        self.answer.clone()
    }
}
