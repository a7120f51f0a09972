use std::collections::VecDeque;
use std::fmt;
use std::mem;

use bytes::{Buf, Bytes, BytesMut};

use super::event::{Data, SseEvent};
use super::field::{Field, LONGEST_PREFIX, of_line};
use crate::{Error, Result, Text};

/// A decoder of event streams. The events do not depend on the division into chunks.
///
/// Feed a chunk, then take events until there are none:
///
/// ```
/// use bytes::Bytes;
/// use omniassist_core::sse::SseDecoder;
///
/// let mut decoder = SseDecoder::new(1024);
/// decoder.feed(Bytes::from_static(b"event: ping\ndata: {}\n\ndata: cut o"));
/// let event = decoder.next_event()?.unwrap_or_default();
/// assert_eq!((&*event.event, &*event.data), ("ping", "{}"));
/// assert_eq!(decoder.next_event()?, None);
///
/// let rest = decoder.finish()?.unwrap_or_default();
/// assert_eq!(rest.data, "cut o");
/// assert!(!rest.terminated);
/// # Ok::<(), omniassist_core::Error>(())
/// ```
///
/// A value whose line lies within one chunk is a view of that chunk. It is not copied, and keeps the chunk's memory
/// alive. A line that spans chunks is copied once, and data of several lines is joined in a separate buffer. Each byte
/// is scanned once, for any chunk size.
///
/// Memory is bounded: data and name of one event, together with the line in progress, take at most the bytes given to
/// [`new`](Self::new). Other lines are not stored.
///
/// # Departures from the WHATWG rules
///
/// Only the fields `data` and `event` are read: `id` and `retry` are for clients that reconnect. Invalid UTF-8 in these
/// fields is an error and does not become U+FFFD, because a replaced character could silently change the arguments of a
/// tool call. Other lines may contain any bytes. [`finish`](Self::finish) returns an event that the end of the stream
/// cut off, marked as such; a browser drops it.
///
/// # Errors
///
/// After an error, the decoder is empty, ignores further chunks, and returns the same error from each call.
pub struct SseDecoder {
    max_event_bytes: usize,
    /// The unread part of the current chunk.
    chunk: Bytes,
    /// The chunks that were fed before the current one was read.
    waiting: VecDeque<Bytes>,
    /// The offset of `chunk` in the stream.
    offset: u64,
    /// `true` once the first line, which may begin with a byte order mark, was read.
    began: bool,
    /// `true` if the last line ended in a carriage return, so that a line feed now belongs to it.
    after_cr: bool,
    /// The unfinished line of earlier chunks.
    kept: BytesMut,
    /// `true` if the unfinished line is a comment or an unknown field, which is not stored.
    ignored: bool,
    event: Text,
    data: Data,
    /// The bytes of all values of the event in progress, which count towards the limit.
    event_bytes: usize,
    failure: Option<Failure>,
}

#[derive(Clone, Copy)]
enum Failure {
    TooLong,
    NotUtf8 {
        offset: u64,
        /// The bytes end within a character, so far without fault.
        cut: bool,
    },
}

const BOM: &[u8] = &[0xef, 0xbb, 0xbf];

/// A line buffer that grew beyond this is not reused.
const MAX_RETAINED: usize = 64 * 1024;

impl SseDecoder {
    /// Creates a decoder for a stream whose events hold at most `max_event_bytes` bytes each
    /// ([`Limits::max_sse_event_bytes`](crate::Limits::max_sse_event_bytes)).
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            chunk: Bytes::new(),
            waiting: VecDeque::new(),
            offset: 0,
            began: false,
            after_cr: false,
            kept: BytesMut::new(),
            ignored: false,
            event: Text::new(),
            data: Data::None,
            event_bytes: 0,
            failure: None,
        }
    }

    /// Adds the next bytes of the stream. Call [`next_event`](Self::next_event) until it returns `None` before feeding
    /// the next chunk; otherwise chunks accumulate in memory.
    pub fn feed(&mut self, chunk: Bytes) {
        if self.failure.is_some() || chunk.is_empty() {
            return;
        }
        if self.chunk.is_empty() && self.waiting.is_empty() {
            self.chunk = chunk;
        } else {
            self.waiting.push_back(chunk);
        }
    }

    /// Returns the next complete event, or `None` if it needs more bytes.
    ///
    /// # Errors
    ///
    /// Fails if an event exceeds the limit (`max_sse_event_bytes`), or a field is not UTF-8. The error then names the
    /// offset of the first invalid byte in the stream. Events that were complete before that point are returned first.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>> {
        self.guarded(Self::read_event)
    }

    /// Returns the event that the end of the stream cut off, or `None` if the stream ended properly. Its
    /// [`terminated`](SseEvent::terminated) is `false`, and its data can be incomplete: use it only if it parses and is
    /// the last event of the protocol. Pending complete events are returned first, so call this until it returns
    /// `None`.
    ///
    /// An event that ends within a character is dropped. A new stream needs a new decoder.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn finish(&mut self) -> Result<Option<SseEvent>> {
        self.guarded(|decoder| {
            if let Some(event) = decoder.read_event()? {
                return Ok(Some(event));
            }
            let rest = decoder.kept.split().freeze();
            match decoder.read_line(rest, decoder.offset) {
                Ok(()) => Ok(decoder.dispatch(false)),
                Err(Failure::NotUtf8 { cut: true, .. }) => {
                    decoder.dispatch(false);
                    Ok(None)
                }
                Err(failure) => Err(failure),
            }
        })
    }

    fn guarded(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<SseEvent>, Failure>,
    ) -> Result<Option<SseEvent>> {
        if let Some(failure) = self.failure {
            return Err(self.error(failure));
        }
        read(self).map_err(|failure| {
            *self = Self { failure: Some(failure), ..Self::new(self.max_event_bytes) };
            self.error(failure)
        })
    }

    fn error(&self, failure: Failure) -> Error {
        match failure {
            Failure::TooLong => Error::limit_exceeded("max_sse_event_bytes", self.max_event_bytes, None),
            Failure::NotUtf8 { offset, .. } => {
                Error::invalid_stream(format!("the event stream is not UTF-8 at byte {offset}"))
            }
        }
    }

    fn read_event(&mut self) -> Result<Option<SseEvent>, Failure> {
        loop {
            let Some(&first) = self.chunk.first() else {
                match self.waiting.pop_front() {
                    Some(chunk) => self.chunk = chunk,
                    None => return Ok(None),
                }
                continue;
            };
            if mem::take(&mut self.after_cr) && first == b'\n' {
                self.consume(1);
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', &self.chunk) else {
                let part = mem::take(&mut self.chunk);
                self.offset += part.len() as u64;
                self.keep(&part)?;
                continue;
            };
            self.after_cr = self.chunk.get(end) == Some(&b'\r');
            let line = self.chunk.slice(..end);
            self.consume(end + 1);
            if mem::take(&mut self.ignored) {
                self.began = true;
            } else if !self.kept.is_empty() {
                self.kept.extend_from_slice(&line);
                let line = self.kept.split().freeze();
                if line.len() > MAX_RETAINED {
                    self.kept = BytesMut::new();
                }
                self.read_line(line, self.offset - 1)?;
            } else if !line.is_empty() {
                self.read_line(line, self.offset - 1)?;
            } else {
                self.began = true;
                if let Some(event) = self.dispatch(true) {
                    return Ok(Some(event));
                }
            }
        }
    }

    /// Stores a part of a line without its end.
    fn keep(&mut self, part: &[u8]) -> Result<(), Failure> {
        if self.ignored {
            return Ok(());
        }
        self.kept.extend_from_slice(part);
        let mark = self.mark(&self.kept);
        let Some(line) = self.kept.get(mark..).filter(|line| line.len() >= LONGEST_PREFIX) else {
            return Ok(());
        };
        match of_line(line) {
            Some((field, from)) => self.check_limit(field, line.len() - from).map(|_| ()),
            None => {
                self.ignored = true;
                self.kept.clear();
                Ok(())
            }
        }
    }

    /// Returns the length of the byte order mark at the start of the stream.
    fn mark(&self, line: &[u8]) -> usize {
        if !self.began && line.starts_with(BOM) { BOM.len() } else { 0 }
    }

    /// Reads a complete line that ends at this offset in the stream.
    fn read_line(&mut self, mut line: Bytes, end: u64) -> Result<(), Failure> {
        let mark = self.mark(&line);
        self.began = true;
        line.advance(mark);
        let Some((field, from)) = of_line(&line) else { return Ok(()) };
        line.advance(from);
        self.event_bytes = self.check_limit(field, line.len())?;
        let length = line.len() as u64;
        let text = Text::from_utf8(line).map_err(|error| Failure::NotUtf8 {
            offset: end - length + error.valid_up_to() as u64,
            cut: error.error_len().is_none(),
        })?;
        match field {
            Field::Data => self.data.push(text),
            Field::Event => self.event = text,
        }
        Ok(())
    }

    /// Adds the length of a value to the bytes of the event.
    fn check_limit(&self, field: Field, value: usize) -> Result<usize, Failure> {
        let joint = usize::from(field == Field::Data && !matches!(self.data, Data::None));
        let bytes = self.event_bytes.saturating_add(value).saturating_add(joint);
        if bytes > self.max_event_bytes { Err(Failure::TooLong) } else { Ok(bytes) }
    }

    fn dispatch(&mut self, terminated: bool) -> Option<SseEvent> {
        self.event_bytes = 0;
        let event = mem::take(&mut self.event);
        let data = mem::take(&mut self.data).into_text()?;
        Some(SseEvent { event, data, terminated })
    }

    fn consume(&mut self, count: usize) {
        if count < self.chunk.len() {
            self.chunk.advance(count);
        } else {
            // An empty view would keep the buffer alive, which the HTTP client can otherwise reuse.
            self.chunk = Bytes::new();
        }
        self.offset += count as u64;
    }
}

impl fmt::Debug for SseDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseDecoder")
            .field("offset", &self.offset)
            .field("event_bytes", &self.event_bytes)
            .field("failed", &self.failure.is_some())
            .finish_non_exhaustive()
    }
}
