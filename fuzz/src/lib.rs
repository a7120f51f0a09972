//! Shared parts of the fuzz targets: the division of an input into chunks, and the invariants of a decoder.
//!
//! The lowest three bits of an input's last byte are the number of lengths. The bytes before it are the lengths of the
//! chunks, used in rotation. The rest is the stream. A seed is therefore a plain stream followed by a few bytes.

use std::time::Duration;

use bytes::Bytes;
use omniassist_core::sse::{SseDecoder, SseEvent};
use omniassist_core::{EventBuf, Limits, LlmEvent};
use omniassist_server::ProviderErrorKind;
use omniassist_server::provider::WireDecoder;

/// The limit of bytes in one event. It is small, so that the fuzzer finds it.
pub const MAX_EVENT_BYTES: usize = 2048;

/// Returns limits that inputs of a few kilobytes can reach.
#[must_use]
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_sse_event_bytes = MAX_EVENT_BYTES;
    limits.max_tool_args_bytes = 512;
    limits
}

/// Splits an input into its stream and the lengths of the chunks.
#[must_use]
pub fn split(input: &[u8]) -> (Bytes, Vec<usize>) {
    let Some((count, rest)) = input.split_last() else { return (Bytes::new(), vec![1]) };
    let (stream, lengths) = rest.split_at(rest.len().saturating_sub(usize::from(count & 7)));
    let mut lengths: Vec<usize> = lengths.iter().map(|length| usize::from(*length).max(1)).collect();
    if lengths.is_empty() {
        lengths.push(1);
    }
    (Bytes::copy_from_slice(stream), lengths)
}

/// Divides a stream into chunks.
pub fn chunks<'a>(stream: &'a Bytes, lengths: &'a [usize]) -> impl Iterator<Item = Bytes> + 'a {
    let mut at = 0;
    lengths.iter().cycle().map_while(move |length| {
        let end = (at + length).min(stream.len());
        let chunk = (at < end).then(|| stream.slice(at..end));
        at = end;
        chunk
    })
}

/// The result of decoding a stream: its events and its end.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    /// The events.
    pub events: Vec<LlmEvent>,
    /// The kind of the failure, if there is one.
    pub failure: Option<ProviderErrorKind>,
}

/// Feeds all chunks to a decoder.
pub fn decode(mut decoder: impl WireDecoder, chunks: impl Iterator<Item = Bytes>) -> Decoded {
    let mut buffer = EventBuf::new();
    let mut end = Ok(());
    for chunk in chunks {
        end = decoder.feed(chunk, &mut buffer);
        if end.is_err() {
            break;
        }
    }
    if end.is_ok() {
        end = decoder.finish(&mut buffer);
    }
    let events = buffer.drain().collect();
    if end.is_err() {
        assert!(decoder.finish(&mut buffer).is_err(), "a decoder that has failed stays failed");
        assert!(decoder.feed(Bytes::from_static(b"\n\n"), &mut buffer).is_err());
        assert!(buffer.is_empty(), "nothing comes after a failure");
    }
    let failure = end.err().map(|error| error.provider_kind().expect("a provider's error"));
    Decoded { events, failure }
}

/// Checks the invariants of a provider's decoder: it does not panic, its events do not depend on the chunks, its output
/// is bounded by its input, and its events are well formed.
pub fn check<D: WireDecoder>(input: &[u8], decoder: impl Fn() -> D) {
    let (stream, lengths) = split(input);
    let whole = decode(decoder(), std::iter::once(stream.clone()).filter(|chunk| !chunk.is_empty()));
    let pieces = decode(decoder(), chunks(&stream, &lengths));
    assert_eq!(whole, pieces, "chunks make a difference");
    let bytewise = decode(decoder(), chunks(&stream, &[1]));
    assert_eq!(whole, bytewise, "single bytes make a difference");

    check_shape(&whole);
    let written: usize = whole.events.iter().map(|event| format!("{event:?}").len()).sum();
    // Every event comes from some bytes of the input. The factor allows for the names in the debug form.
    assert!(written <= 64 * 1024 + 400 * stream.len(), "{written} bytes of {}", stream.len());
}

fn check_shape(decoded: &Decoded) {
    let mut calls: Vec<bool> = Vec::new();
    let mut finishes = 0;
    for event in &decoded.events {
        match event {
            LlmEvent::TextDelta { delta, .. }
            | LlmEvent::ReasoningDelta { delta, .. }
            | LlmEvent::RefusalDelta { delta, .. } => assert!(!delta.is_empty(), "an empty delta"),
            LlmEvent::ToolCallStart { call, id, .. } => {
                assert_eq!(*call as usize, calls.len(), "calls are numbered in order");
                assert!(!id.is_empty(), "a call has an id");
                calls.push(false);
            }
            LlmEvent::ToolCallDelta { call, delta } => {
                assert!(!calls[*call as usize], "nothing is added to a call that has ended");
                assert!(!delta.is_empty(), "an empty delta");
            }
            LlmEvent::ToolCallEnd { call, .. } => {
                assert!(!std::mem::replace(&mut calls[*call as usize], true), "a call ends once");
            }
            LlmEvent::Finish { .. } => finishes += 1,
            _ => {}
        }
    }
    assert!(finishes <= 1, "{finishes} finishes");
    assert!(decoded.failure.is_some() || finishes == 1, "a healthy stream has a finish");
}

/// Returns all events of a stream, and `true` if the stream was refused.
#[must_use]
pub fn sse_events(chunks: impl Iterator<Item = Bytes>) -> (Vec<SseEvent>, bool) {
    let mut decoder = SseDecoder::new(MAX_EVENT_BYTES);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        loop {
            match decoder.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(_) => return (events, true),
            }
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, false),
            Err(_) => return (events, true),
        }
    }
}

/// The size of the largest input that [`bounded`] checks.
const SMALL: usize = 64 << 10;

/// The limit of CPU time for a small input. A build without sanitizers needs a fifth of it.
const BUDGET: Duration = Duration::from_millis(250);

/// Reads an input of `bytes` bytes. A small one must be read within a budget of CPU time.
///
/// # Panics
///
/// Panics if the budget is exceeded.
pub fn bounded<T>(bytes: usize, read: impl FnOnce() -> T) -> T {
    let before = cpu_time();
    let value = read();
    if let (Some(before), Some(after)) = (before, cpu_time()) {
        let spent = after.saturating_sub(before);
        assert!(bytes > SMALL || spent <= BUDGET, "{bytes} bytes took {spent:?}");
    }
    value
}

/// Returns the CPU time of this thread, if the system reports it.
fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
