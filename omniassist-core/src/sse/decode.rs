use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

use super::event::{Data, SseEvent};
use super::field::{self, Field};
use crate::{Error, Result, Text};

/// A decoder of event streams. The same bytes give the same events, in whatever chunks they arrive.
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
/// alive. A line that spans chunks is copied once, and data of several lines is joined in a separate buffer. Each byte is
/// scanned once, whatever the size of the chunks.
///
/// Memory is bounded: data, event name, id and reconnection time of one event, together with the line in progress, hold
/// at most the bytes given to [`new`](Self::new). Comments and unknown fields are not stored.
///
/// # Departures from the WHATWG rules
///
/// Invalid UTF-8 in a known field is an error and does not become U+FFFD, because a replaced character could silently
/// change the arguments of a tool call. Comments and unknown fields may contain any bytes. [`finish`](Self::finish)
/// returns an event that the end of the stream cut off, marked as such; a browser drops it.
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
    /// The bytes of a byte order mark that were read at the start of the stream; `BOM.len()` once that is decided.
    bom_seen: usize,
    /// `true` if the last line ended in a carriage return, so that a line feed now belongs to it.
    after_cr: bool,
    line: Line,
    kept: BytesMut,
    /// The offset of the line in progress in the stream.
    line_start: u64,
    event: Text,
    data: Data,
    /// The bytes of all values of the event in progress, which count towards the limit.
    event_bytes: usize,
    last_id: Text,
    retry: Option<Duration>,
    failure: Option<Failure>,
}

/// The unfinished line of earlier chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// There is none; the next byte begins a line.
    None,
    /// Its bytes are in `kept`, and are too few to determine the field.
    Short,
    /// A known field; its bytes are in `kept`.
    Known,
    /// A comment or an unknown field.
    Ignored,
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

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

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
            bom_seen: 0,
            after_cr: false,
            line: Line::None,
            kept: BytesMut::new(),
            line_start: 0,
            event: Text::new(),
            data: Data::None,
            event_bytes: 0,
            last_id: Text::new(),
            retry: None,
            failure: None,
        }
    }

    /// Adds the next bytes of the stream. Call [`next_event`](Self::next_event) until it returns `None` before feeding the
    /// next chunk; otherwise chunks accumulate in memory.
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
    /// Fails if an event exceeds the limit (`max_sse_event_bytes`), or a field is not UTF-8. The error then names the offset of
    /// the first invalid byte in the stream. Events that were complete before that point are returned first.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>> {
        self.guarded(Self::read_event)
    }

    /// Returns the event that the end of the stream cut off, or `None` if the stream ended properly. Its
    /// [`terminated`](SseEvent::terminated) is `false`, and its data can be incomplete: use it only if it parses and is the
    /// last event of the protocol. Complete events that were not taken yet come first, so call this until it returns
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
            match decoder.end_line(0) {
                Ok(()) => Ok(decoder.dispatch(false)),
                Err(Failure::NotUtf8 { cut: true, .. }) => {
                    decoder.dispatch(false);
                    Ok(None)
                }
                Err(failure) => Err(failure),
            }
        })
    }

    /// Returns the reconnection time of the last `retry` field.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn guarded(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<SseEvent>, Failure>,
    ) -> Result<Option<SseEvent>> {
        if let Some(failure) = self.failure {
            return Err(self.error(failure));
        }
        read(self).map_err(|failure| {
            *self = Self { retry: self.retry, failure: Some(failure), ..Self::new(self.max_event_bytes) };
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
            if self.bom_seen < BOM.len() {
                self.settle_bom(first);
                continue;
            }
            if mem::take(&mut self.after_cr) && first == b'\n' {
                self.consume(1);
                continue;
            }
            let end = match first {
                b'\n' | b'\r' => Some(0),
                _ => memchr::memchr2(b'\n', b'\r', &self.chunk),
            };
            let Some(end) = end else {
                let part = mem::take(&mut self.chunk);
                self.keep(&part)?;
                self.offset += part.len() as u64;
                continue;
            };
            self.after_cr = self.chunk.get(end) == Some(&b'\r');
            if self.line != Line::None {
                self.end_line(end)?;
            } else if end > 0 {
                self.read_line(end)?;
            } else {
                self.consume(1);
                if let Some(event) = self.dispatch(true) {
                    return Ok(Some(event));
                }
                continue;
            }
            self.consume(end + 1);
        }
    }

    /// Reads a line that is the next `end` bytes of the chunk.
    fn read_line(&mut self, end: usize) -> Result<(), Failure> {
        let line = self.chunk.get(..end).unwrap_or_default();
        match field::of_line(line) {
            Some((field, from)) => {
                let value = self.chunk.slice(from..end);
                self.apply(field, value, self.offset + from as u64)
            }
            None => Ok(()),
        }
    }

    /// Ends the line in progress, if there is one, with the next `end` bytes of the chunk.
    fn end_line(&mut self, end: usize) -> Result<(), Failure> {
        if end > 0 {
            let part = self.chunk.slice(..end);
            self.keep(&part)?;
        }
        if mem::replace(&mut self.line, Line::None) == Line::Ignored {
            return Ok(());
        }
        let mut line = self.kept.split().freeze();
        if line.len() > MAX_RETAINED {
            self.kept = BytesMut::new();
        }
        match field::of_line(&line) {
            Some((field, from)) => {
                line.advance(from);
                self.apply(field, line, self.line_start + from as u64)
            }
            None => Ok(()),
        }
    }

    /// Stores a part of a line without its end, or its last part. `offset` is that of the part.
    fn keep(&mut self, part: &[u8]) -> Result<(), Failure> {
        let mut part = part;
        if self.line == Line::None {
            self.line = Line::Short;
            self.line_start = self.offset;
        }
        if self.line == Line::Short {
            let missing = field::LONGEST_PREFIX.saturating_sub(self.kept.len()).min(part.len());
            let (head, rest) = part.split_at(missing);
            self.kept.extend_from_slice(head);
            part = rest;
            if self.kept.len() < field::LONGEST_PREFIX {
                return Ok(());
            }
            self.line = if field::of_prefix(&self.kept).is_some() { Line::Known } else { Line::Ignored };
            if self.line == Line::Ignored {
                self.kept.clear();
            }
        }
        if self.line == Line::Known
            && let Some((field, from)) = field::of_prefix(&self.kept)
        {
            self.check_limit(field, self.kept.len().saturating_sub(from) + part.len())?;
            self.kept.extend_from_slice(part);
        }
        Ok(())
    }

    fn apply(&mut self, field: Field, value: Bytes, at: u64) -> Result<(), Failure> {
        self.event_bytes = self.check_limit(field, value.len())?;
        if field == Field::Retry {
            if let Some(milliseconds) = parse_digits(&value) {
                self.retry = Some(Duration::from_millis(milliseconds));
            }
            return Ok(());
        }
        let text = Text::from_utf8(value).map_err(|error| Failure::NotUtf8 {
            offset: at + error.valid_up_to() as u64,
            cut: error.error_len().is_none(),
        })?;
        match field {
            Field::Data => self.data.push(text),
            Field::Event => self.event = text,
            Field::Id if memchr::memchr(0, text.as_bytes()).is_some() => {}
            Field::Id => self.last_id = text,
            Field::Retry => {}
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
        Some(SseEvent { event, data, id: self.last_id.clone(), terminated })
    }

    /// Reads one byte of a possible byte order mark. An incomplete mark becomes the start of a line, which then is an
    /// unknown field.
    fn settle_bom(&mut self, first: u8) {
        if BOM.get(self.bom_seen) == Some(&first) {
            self.bom_seen += 1;
            self.consume(1);
        } else {
            if self.bom_seen > 0 {
                self.line = Line::Ignored;
            }
            self.bom_seen = BOM.len();
        }
    }

    fn consume(&mut self, count: usize) {
        if count < self.chunk.len() {
            self.chunk.advance(count);
        } else {
            // An empty view would keep the chunk's memory, into which an HTTP client reads the next one if it can.
            self.chunk = Bytes::new();
        }
        self.offset += count as u64;
    }
}

fn parse_digits(value: &[u8]) -> Option<u64> {
    // The parser of integers would take a sign, which the event stream format does not.
    if value.iter().all(u8::is_ascii_digit) { std::str::from_utf8(value).ok()?.parse().ok() } else { None }
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
