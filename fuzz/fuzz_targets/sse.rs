//! Server-sent events. The events do not depend on the chunks, and an event is within its limit.
#![no_main]

use omniassist_fuzz::{MAX_EVENT_BYTES, chunks, split, sse_events};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let (stream, lengths) = split(input);
    let whole = sse_events(std::iter::once(stream.clone()));
    assert_eq!(whole, sse_events(chunks(&stream, &lengths)), "chunks make a difference");
    assert_eq!(whole, sse_events(chunks(&stream, &[1])), "single bytes make a difference");
    for event in &whole.0 {
        assert!(event.data.len() + event.event.len() <= 2 * MAX_EVENT_BYTES);
    }
});
