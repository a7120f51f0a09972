use std::fmt;

use bytes::{BufMut, BytesMut};
use memchr::memmem;

use super::{Cursor, DialectEncoder};
use crate::RunEvent;
use crate::event::{FinishReason, Usage};

/// Numbers the chunks of an encoder, and can begin after one of them.
///
/// Encoders use no clock and no random numbers, so the same events always give the same chunks. The stream after the n-th
/// chunk is therefore found by encoding all events from the beginning and leaving out the first n chunks. Events that are
/// not [exact](crate::journal::exact), such as those of a [`Replay`](crate::journal::Replay), give other chunks.
///
/// A chunk is a server-sent event, or a line of NDJSON. Each event gets its [`Cursor`] as its `id:`, which replaces the
/// number that the encoder writes. The end of the response, such as `data: [DONE]`, is no chunk: it has no number and is
/// never left out.
///
/// ```
/// use bytes::BytesMut;
/// use omniassist_core::RunEvent;
/// use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
/// use omniassist_core::dialect::{Cursor, DialectEncoder, Numbered};
///
/// let mut encoder = Numbered::new(Box::new(Encoder::new(Framing::Sse)), Cursor { epoch: 1, chunk: 1 });
/// let mut out = BytesMut::new();
/// encoder.encode(&RunEvent::StepStart, &mut out);
/// assert_eq!(out, "");
/// encoder.encode(&RunEvent::StepStart, &mut out);
/// assert_eq!(out, "id: 1.2\ndata: {\"type\":\"start-step\"}\n\n");
/// ```
pub struct Numbered {
    encoder: Box<dyn DialectEncoder>,
    /// The number of the last chunk.
    last: Cursor,
    /// The number of chunks that are left out.
    after: u64,
    has_ids: bool,
    always_finishes: bool,
    lacks_finish: bool,
    chunks: BytesMut,
}

impl Numbered {
    /// Wraps an encoder at the start of a response, which begins after the cursor.
    #[must_use]
    pub fn new(encoder: Box<dyn DialectEncoder>, after: Cursor) -> Self {
        Self {
            encoder,
            last: Cursor { chunk: 0, ..after },
            after: after.chunk,
            has_ids: true,
            always_finishes: false,
            lacks_finish: false,
            chunks: BytesMut::new(),
        }
    }

    /// Sets whether server-sent events have ids. Default: `true`. Turn it off for events that are not exact: a client cannot
    /// continue after them.
    #[must_use]
    pub fn ids(mut self, ids: bool) -> Self {
        self.has_ids = ids;
        self
    }

    /// Sets whether a run that fails or is stopped is finished as well: the chunks of [`RunEvent::Finish`] follow those of
    /// the error or the abort. `WorkflowChatTransport` of the AI SDK asks for the rest again until it has read them.
    /// Default: `false`.
    #[must_use]
    pub fn always_finishes(mut self, always: bool) -> Self {
        self.always_finishes = always;
        self
    }

    /// Returns the position after the chunks of all events so far.
    #[must_use]
    pub fn position(&self) -> Cursor {
        self.last
    }

    /// Appends the chunks with their numbers, without those that are left out.
    fn number(&mut self, out: &mut BytesMut) {
        let is_event_stream = self.encoder.takes_comments();
        let separator: &[u8] = if is_event_stream { b"\n\n" } else { b"\n" };
        let mut rest = self.chunks.as_ref();
        while !rest.is_empty() {
            let end =
                memmem::find(rest, separator).map_or(rest.len(), |at| at.saturating_add(separator.len()));
            let (chunk, following) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            rest = following;
            self.last.chunk = self.last.chunk.saturating_add(1);
            if self.last.chunk <= self.after {
                continue;
            }
            if is_event_stream && self.has_ids {
                write_id(self.last, out);
            }
            out.put_slice(without_id(chunk));
        }
        self.chunks.clear();
    }
}

/// Appends the line with the number of a chunk.
fn write_id(cursor: Cursor, out: &mut BytesMut) {
    let mut digits = itoa::Buffer::new();
    out.put_slice(b"id: ");
    out.put_slice(digits.format(cursor.epoch).as_bytes());
    out.put_slice(b".");
    out.put_slice(digits.format(cursor.chunk).as_bytes());
    out.put_slice(b"\n");
}

/// Returns the chunk without the number that its encoder wrote.
fn without_id(chunk: &[u8]) -> &[u8] {
    if !chunk.starts_with(b"id: ") {
        return chunk;
    }
    memchr::memchr(b'\n', chunk).and_then(|at| chunk.get(at.saturating_add(1)..)).unwrap_or(chunk)
}

impl DialectEncoder for Numbered {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        self.encoder.encode(event, &mut self.chunks);
        if event.is_terminal() {
            self.lacks_finish = !matches!(event, RunEvent::Finish { .. });
        }
        self.number(out);
    }

    fn finish(&mut self, out: &mut BytesMut) {
        if self.always_finishes && self.lacks_finish {
            let finish = RunEvent::Finish { reason: FinishReason::Error, usage: Usage::default() };
            self.encode(&finish, out);
        }
        self.encoder.finish(out);
    }

    fn takes_comments(&self) -> bool {
        self.encoder.takes_comments()
    }

    fn is_cut(&self) -> bool {
        self.encoder.is_cut()
    }
}

impl fmt::Debug for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbered")
            .field("last", &self.last)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
