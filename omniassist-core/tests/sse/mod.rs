//! Tests of the event stream decoder: framing rules, chunk boundaries, limits and round trips.

mod chunking;
mod fixtures;
mod framing;
mod limits;

use bytes::Bytes;
use omniassist_core::Result;
use omniassist_core::sse::{SseDecoder, SseEvent};

const NO_LIMIT: usize = 64 << 20;

/// The outcome of a stream: its events, including the incomplete one at its end, and its error.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: Vec<SseEvent>,
    error: Option<String>,
}

impl Outcome {
    fn data(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.data.as_str()).collect()
    }
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, max_event_bytes: usize) -> Outcome {
    let mut decoder = SseDecoder::new(max_event_bytes);
    let mut events = Vec::new();
    let read = |decoder: &mut SseDecoder, events: &mut Vec<SseEvent>| -> Result<()> {
        for chunk in chunks {
            decoder.feed(Bytes::copy_from_slice(chunk));
            while let Some(event) = decoder.next_event()? {
                assert!(event.terminated);
                events.push(event);
            }
        }
        events.extend(decoder.finish()?);
        assert_eq!(decoder.finish()?, None);
        Ok(())
    };
    let error = read(&mut decoder, &mut events).err().map(|error| error.to_string());
    Outcome { events, error }
}

fn whole(bytes: &[u8]) -> Outcome {
    decode([bytes], NO_LIMIT)
}

fn bytewise(bytes: &[u8]) -> Outcome {
    decode(bytes.chunks(1), NO_LIMIT)
}
