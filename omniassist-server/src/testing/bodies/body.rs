use bytes::Bytes;
use serde_json::Value;

use crate::testing::turn::pieces;

/// Approximate bytes of text and arguments in one delta.
const DELTA: usize = 6;

/// A provider's answer as the body of an event stream. The functions of [`responses_sse`](super::responses_sse) and
/// [`chat_sse`](super::chat_sse) create it.
///
/// Parts are sent in the order in which they were added, surrounded by the protocol's own start, end and finish events.
///
/// ```
/// use omniassist_server::testing::{Reply, responses_sse};
/// use serde_json::json;
///
/// let body = responses_sse::text("Let me look.")
///     .call("call_1", "order_status", json!({"id": 7}))
///     .usage(120, 30);
/// let reply = Reply::sse(body);
/// # let _ = reply;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SseBody {
    pub(super) parts: Vec<Part>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) cut: bool,
    render: fn(&Self) -> String,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Reasoning(String),
    Call { id: String, name: String, arguments: String },
    Error { code: String, message: String },
}

impl SseBody {
    /// Creates an empty body that `render` writes in the format of its API.
    pub(super) fn new(render: fn(&Self) -> String) -> Self {
        Self { parts: Vec::new(), usage: None, cut: false, render }
    }

    /// Adds visible text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    /// Adds reasoning: a summary in the Responses API, `reasoning_content` of compatible servers in Chat Completions.
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.part(Part::Reasoning(text.into()))
    }

    /// Adds a tool call. Ids must be unique within a conversation.
    pub fn call(self, id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.raw_call(id, name, arguments.into().to_string())
    }

    /// Adds a tool call with argument text that need not be JSON.
    pub fn raw_call(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        self.part(Part::Call { id: id.into(), name: name.into(), arguments: arguments.into() })
    }

    /// Adds an error inside the stream. Only Chat's `[DONE]` follows it.
    pub fn error(self, code: impl Into<String>, message: impl Into<String>) -> Self {
        self.part(Part::Error { code: code.into(), message: message.into() })
    }

    /// Reports token usage. Default: none.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Some((input_tokens, output_tokens));
        self
    }

    /// Ends as if the token limit was reached. The last part has no end event, and the finish is `length`
    /// (`incomplete` in the Responses API).
    pub fn truncated(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Returns the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        (self.render)(&self).into()
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

impl From<SseBody> for Bytes {
    fn from(body: SseBody) -> Self {
        body.into_bytes()
    }
}

/// Splits text at character boundaries into pieces of about [`DELTA`] bytes.
pub(super) fn deltas(text: &str) -> Vec<String> {
    pieces(text, DELTA)
}

/// Defines the functions that begin a body in the format that `render` writes.
macro_rules! constructors {
    () => {
        /// Creates an answer without parts.
        pub fn empty() -> SseBody {
            SseBody::new(render)
        }

        /// Creates an answer with `text`.
        pub fn text(text: impl Into<String>) -> SseBody {
            empty().text(text)
        }

        /// Creates an answer that calls a tool.
        pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Value>) -> SseBody {
            empty().call(id, name, arguments)
        }

        /// Creates an error in place of an answer, under a good status.
        pub fn error(code: impl Into<String>, message: impl Into<String>) -> SseBody {
            empty().error(code, message)
        }
    };
}

pub(super) use constructors;
