use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

use super::event::{Data, SseEvent};
use super::field::{self, Field};
use crate::{Error, Result, Text};

/// Reads an event stream from chunks cut anywhere: the same bytes give the same events in every chunking.
///
/// Feed a chunk, then pull events until there are none:
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
/// A value whose line lies within one chunk is a view of that chunk: nothing is copied or allocated for it, and the
/// chunk's memory lives as long as the view. A line that straddles chunks is copied once, and data of several lines
/// is joined in a buffer of its own. Each byte is looked at once, however small the chunks are.
///
/// Memory is bounded: data, event name, id and reconnection time of one event, together with the line in progress,
/// may hold as many bytes as [`new`](Self::new) is told. Comments and unknown fields are not kept at all.
///
/// # Departures from the WHATWG rules
///
/// Bytes of a known field that are not UTF-8 are an error, not U+FFFD: a replaced character could change a tool call's
/// arguments unseen. In comments and unknown fields any bytes are passed over. An event cut off by the end of the
/// stream is handed out by [`finish`](Self::finish), marked, where a browser drops it.
///
/// # Errors
///
/// After an error the decoder holds nothing, ignores what it is fed, and answers each call with the same error.
pub struct SseDecoder {
    max_event_bytes: usize,
    /// What is still to be read of the chunk in hand.
    chunk: Bytes,
    /// Chunks fed before the one in hand was read to its end.
    waiting: VecDeque<Bytes>,
    /// Where in the stream `chunk` begins.
    offset: u64,
    /// How much of a byte order mark was seen at the start of the stream; `BOM.len()` once that is settled.
    bom_seen: usize,
    /// Whether the last line ended in a carriage return, so that a line feed now belongs to its end.
    after_cr: bool,
    line: Line,
    kept: BytesMut,
    /// Where in the stream the line in progress begins.
    line_start: u64,
    event: Text,
    data: Data,
    /// The bytes that count against the limit: those of all values of the event in progress.
    event_bytes: usize,
    last_id: Text,
    retry: Option<Duration>,
    failure: Option<Failure>,
    /// Bytes scanned and bytes copied, for the proof that work is linear.
    #[cfg(test)]
    work: usize,
}

/// The line that earlier chunks left unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// None: the next byte begins a line.
    None,
    /// Its bytes are in `kept`, as yet too few to tell the field.
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

/// A line buffer that grew beyond this is not kept for the next line.
const MAX_RETAINED: usize = 64 * 1024;

impl SseDecoder {
    /// A decoder at the start of a stream, whose events may hold `max_event_bytes` bytes each
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
            #[cfg(test)]
            work: 0,
        }
    }

    /// Takes the next bytes of the stream. Events come from [`next_event`](Self::next_event), which is best called
    /// until it has no more before the next chunk is fed; else the chunks wait in memory.
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

    /// The next complete event, or `None` when more bytes are needed.
    ///
    /// # Errors
    ///
    /// When an event passes the limit (`max_sse_event_bytes`), or when a field is not UTF-8; the error then names the
    /// offset of the first wrong byte in the stream. Events complete before that point are handed out first.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>> {
        self.guarded(Self::read_event)
    }

    /// The event that the end of the stream cut off, with its [`terminated`](SseEvent::terminated) unset; `None` if the
    /// stream ended properly. Its data may be incomplete: a caller should use it only if it parses and is the event
    /// that ends the exchange. Events that were fed but not yet pulled come first, so call this until it gives `None`.
    ///
    /// An event that ends within a character is dropped. A stream that is opened anew needs a new decoder.
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

    /// The reconnection time that the stream last asked for with a `retry` field.
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
                self.count_work(self.chunk.len());
                let part = mem::take(&mut self.chunk);
                self.keep(&part)?;
                self.offset += part.len() as u64;
                continue;
            };
            self.count_work(end + 1);
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

    /// Keeps a piece of a line whose end is not in sight, or ends with it. `offset` still stands at the piece.
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
            self.count_work(part.len());
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

    /// The bytes of the event with a value of this length added.
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

    /// Takes one byte that may belong to a byte order mark. One that breaks off leaves a line that begins with its
    /// bytes, which no known field does.
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

    #[cfg(test)]
    fn count_work(&mut self, bytes: usize) {
        self.work += bytes;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "counts in tests only")]
    fn count_work(&mut self, _bytes: usize) {}
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn feed_bytewise(decoder: &mut SseDecoder, bytes: impl IntoIterator<Item = u8>) -> Vec<SseEvent> {
        let mut events = Vec::new();
        for byte in bytes {
            decoder.feed(Bytes::copy_from_slice(&[byte]));
            while let Some(event) = decoder.next_event().unwrap() {
                events.push(event);
            }
        }
        events
    }

    #[test]
    fn a_long_line_in_single_bytes_is_linear_work() {
        let mut decoder = SseDecoder::new(8 * MIB);
        let line = b"data: ".iter().copied().chain(std::iter::repeat_n(b'x', 8 * MIB));
        let events = feed_bytewise(&mut decoder, line.chain(*b"\n\n"));
        assert_eq!(events.first().map(|event| event.data.len()), Some(8 * MIB));
        // Scanned once and copied once.
        assert!(decoder.work <= 2 * (8 * MIB + 8), "{} bytes were worked on", decoder.work);
        assert!(decoder.kept.capacity() <= MAX_RETAINED);
    }

    #[test]
    fn comments_and_unknown_fields_are_not_kept() {
        for start in [": ", "unknown: ", "datax: ", "\u{feff}: ", "\u{fee}: "] {
            let mut decoder = SseDecoder::new(16);
            let line = start.bytes().chain(std::iter::repeat_n(b'x', MIB));
            assert_eq!(feed_bytewise(&mut decoder, line), []);
            decoder.feed(Bytes::from(vec![b'x'; MIB]));
            assert_eq!(decoder.next_event().unwrap(), None);
            assert!(decoder.kept.capacity() < 1024, "{start:?} keeps {}", decoder.kept.capacity());
            assert_eq!(feed_bytewise(&mut decoder, *b"\ndata: y\n\n").len(), 1);
        }
    }

    #[test]
    fn a_line_within_a_chunk_is_a_view_of_it() {
        let chunk = Bytes::from_static(b"event: e\nid: 1\ndata: hello\n\n");
        let inside = chunk.as_ptr_range();
        let mut decoder = SseDecoder::new(100);
        decoder.feed(chunk.clone());
        let event = decoder.next_event().unwrap().unwrap();
        for text in [&event.event, &event.data, &event.id] {
            assert!(inside.contains(&text.as_ptr()), "{text:?} was copied");
        }
        assert_eq!(decoder.kept.capacity(), 0);
    }

    #[test]
    fn an_error_empties_the_decoder() {
        let mut decoder = SseDecoder::new(10);
        decoder.feed(Bytes::from_static(b"data: 0123456789a"));
        assert!(decoder.next_event().unwrap_err().is_limit());
        decoder.feed(Bytes::from_static(b"data: x\n\n"));
        assert!(decoder.next_event().unwrap_err().is_limit());
        assert!(decoder.finish().unwrap_err().is_limit());
        assert!(decoder.chunk.is_empty() && decoder.kept.is_empty());
    }
}
