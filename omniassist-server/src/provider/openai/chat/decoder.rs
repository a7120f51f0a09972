use omniassist_core::{Limits, LlmPayload, Text};

use super::{constrained, decode};
use crate::provider::ApiDecoder;

/// Decodes the event stream of Chat Completions; see [`ApiDecoder`] for an example.
///
/// Only the first of several choices (`n` above 1) is decoded.
pub type ChatDecoder = ApiDecoder<decode::Reader>;

impl ChatDecoder {
    /// Creates a decoder for one answer. `mint` becomes part of the ids of tool calls that have none. It must be
    /// different for each answer, because call ids are unique within a conversation.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>) -> Self {
        Self::of(decode::Reader::new(limits, mint.into()), limits)
    }

    /// Sets the tools that the request offered. With them, the decoder joins a name that arrives in pieces before it
    /// announces the call. Without them, the first piece is the name.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        self.reader_mut().calls.offer(names.into_iter().collect());
        self
    }

    /// Decodes the answer to a request with [constrained tools](super::OpenAiChatProviderBuilder::constrained_tools).
    /// The text of the answer is parsed as JSON and becomes a call or text. An answer of another form is text. Without
    /// tools in the payload nothing changes.
    #[must_use]
    pub fn constrained(mut self, payload: &LlmPayload) -> Self {
        self.reader_mut().turn = constrained::turn(payload);
        self
    }
}
