use std::time::Duration;

use omniassist_core::{FinishReason, LlmEvent, Text, Usage};
use serde_json::Value;

use crate::{Error, ProviderErrorKind};

/// The answer of a [`ScriptedProvider`](super::ScriptedProvider) to one model call: pieces, played in order.
///
/// Turns can be joined: an array or `Vec` of turns is one turn, and so is `a.then(b)`. Block and call
/// numbers, the `Start`, the ends of blocks and the `Finish` are added as a real model sends them.
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::testing::{Turn, call, reasoning, text};
/// use serde_json::json;
///
/// let turn = Turn::from([
///     reasoning("They ask for an order."),
///     Turn::delay(Duration::from_millis(5)),
///     text("One moment."),
///     call("order_status", json!({"id": 7})),
///     Turn::usage(120, 30),
/// ]);
/// # let _ = turn;
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Turn {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(Vec<Text>),
    Reasoning(Text),
    Call { id: Option<Text>, name: Text, arguments: String, complete: bool },
    Event(LlmEvent),
    Finish(FinishReason),
    Delay(Duration),
    Pending,
    Error(Error),
}

/// Creates a turn with this text.
pub fn text(text: impl Into<Text>) -> Turn {
    Turn::text(text)
}

/// Creates a turn with this reasoning.
pub fn reasoning(text: impl Into<Text>) -> Turn {
    Turn::reasoning(text)
}

/// Creates a turn that calls a tool with these arguments.
pub fn call(name: impl Into<Text>, arguments: impl Into<Value>) -> Turn {
    Turn::call(name, arguments)
}

impl Turn {
    /// Creates a turn without pieces: an empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    fn piece(piece: Piece) -> Self {
        Self { pieces: vec![piece] }
    }

    /// Creates a turn with `text` in one delta.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::piece(Piece::Text(vec![text.into()]))
    }

    /// Creates a turn with these chunks of text, one delta each, in one block.
    pub fn text_chunks<T: Into<Text>>(chunks: impl IntoIterator<Item = T>) -> Self {
        Self::piece(Piece::Text(chunks.into_iter().map(Into::into).collect()))
    }

    /// Creates a turn with `text` as reasoning, in one delta.
    pub fn reasoning(text: impl Into<Text>) -> Self {
        Self::piece(Piece::Reasoning(text.into()))
    }

    /// Creates a turn that calls a tool. The arguments come in several deltas. The id is `call_M_N` for the
    /// N-th call of the M-th model call, both counted from 1.
    pub fn call(name: impl Into<Text>, arguments: impl Into<Value>) -> Self {
        Self::any_call(None, name.into(), arguments.into().to_string(), true)
    }

    /// Creates a turn that calls a tool under the given id.
    pub fn call_with_id(id: impl Into<Text>, name: impl Into<Text>, arguments: impl Into<Value>) -> Self {
        Self::any_call(Some(id.into()), name.into(), arguments.into().to_string(), true)
    }

    /// Creates a turn that calls a tool with argument text that need not be JSON.
    pub fn raw_call(name: impl Into<Text>, arguments: impl Into<String>) -> Self {
        Self::any_call(None, name.into(), arguments.into(), true)
    }

    /// Creates a turn with a call that the token limit cuts. The call has no end event, and the turn's finish is
    /// [`Length`](FinishReason::Length). A correct run never runs the tool, even if the text happens to be
    /// JSON.
    pub fn truncated_call(name: impl Into<Text>, arguments: impl Into<String>) -> Self {
        Self::any_call(None, name.into(), arguments.into(), false)
    }

    fn any_call(id: Option<Text>, name: Text, arguments: String, complete: bool) -> Self {
        Self::piece(Piece::Call { id, name, arguments, complete })
    }

    /// Reports token usage.
    pub fn usage(input_tokens: u64, output_tokens: u64) -> Self {
        let mut usage = Usage::default();
        usage.input_tokens = Some(input_tokens);
        usage.output_tokens = Some(output_tokens);
        usage.total_tokens = Some(input_tokens.saturating_add(output_tokens));
        Self::event(LlmEvent::Usage(usage))
    }

    /// Sets the finish reason. Default: [`ToolCalls`](FinishReason::ToolCalls) if the turn calls a tool,
    /// otherwise [`Stop`](FinishReason::Stop).
    pub fn finish(reason: FinishReason) -> Self {
        Self::piece(Piece::Finish(reason))
    }

    /// Fails with this error. Nothing after it is played.
    pub fn error(error: Error) -> Self {
        Self::piece(Piece::Error(error))
    }

    /// Ends early, as when the connection is lost in the middle of an answer.
    pub fn interrupted() -> Self {
        Self::error(Error::provider(ProviderErrorKind::Interrupted))
    }

    /// Pauses for this long. Under a paused tokio clock this takes no time. A text after it is another block, as after any
    /// other piece; for a pause within a block, use [`event`](Self::event) with deltas of one number.
    pub fn delay(delay: Duration) -> Self {
        Self::piece(Piece::Delay(delay))
    }

    /// Pauses forever. Use it to test cancellation:
    /// [`ScriptedProvider::dropped`](super::ScriptedProvider::dropped) resolves when the run has dropped the
    /// stream.
    pub fn pending() -> Self {
        Self::piece(Piece::Pending)
    }

    /// Sends an event unchanged, with the block and call numbers that it has.
    pub fn event(event: LlmEvent) -> Self {
        Self::piece(Piece::Event(event))
    }

    /// Appends the pieces of another turn.
    pub fn then(mut self, next: impl Into<Self>) -> Self {
        self.pieces.extend(next.into().pieces);
        self
    }
}

impl<const N: usize> From<[Turn; N]> for Turn {
    fn from(turns: [Turn; N]) -> Self {
        turns.into_iter().collect()
    }
}

impl From<Vec<Turn>> for Turn {
    fn from(turns: Vec<Turn>) -> Self {
        turns.into_iter().collect()
    }
}

impl From<&str> for Turn {
    fn from(words: &str) -> Self {
        text(words)
    }
}

impl FromIterator<Turn> for Turn {
    fn from_iter<I: IntoIterator<Item = Turn>>(turns: I) -> Self {
        Self { pieces: turns.into_iter().flat_map(|turn| turn.pieces).collect() }
    }
}

/// Splits text at character boundaries into pieces of at least `size` bytes; the last may be shorter.
pub(super) fn pieces(text: &str, size: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for character in text.chars() {
        piece.push(character);
        if piece.len() >= size {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}
