use omniassist_core::{Limits, LlmPayload, Text};

use super::{constrained, decode};
use crate::provider::ApiDecoder;

/// Reads the event stream of Chat Completions; see [`ApiDecoder`] for an example.
///
/// Only the first of several choices (`n` above 1) is read.
pub type ChatDecoder = ApiDecoder<decode::Reader>;

impl ChatDecoder {
    /// Creates a decoder for one answer. `mint` becomes part of the ids of tool calls that the server gives none. It
    /// must differ from answer to answer, because call ids are unique within a conversation.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>) -> Self {
        Self::of(decode::Reader::new(limits, mint.into()), limits)
    }

    /// Names the tools that the request offered. With them, a name that comes in pieces is joined before the call is
    /// announced; without, the first piece is taken for the name.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        self.reader_mut().calls.offer(names.into_iter().collect());
        self
    }

    /// Reads the answer to a request with [constrained tools](super::OpenAiChatProviderBuilder::constrained_tools): its
    /// text is read as JSON, and what that says becomes the events. An answer that is not of the form is text. Without
    /// tools in the payload nothing changes.
    #[must_use]
    pub fn constrained(mut self, payload: &LlmPayload) -> Self {
        self.reader_mut().turn = constrained::turn(payload);
        self
    }
}
