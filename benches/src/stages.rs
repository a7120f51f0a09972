use std::error::Error;
use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
use omniassist_core::event::BlockId;
use omniassist_core::run::{Input, NoTools, RunConfig, RunMachine};
use omniassist_core::sse::SseDecoder;
use omniassist_core::{EventBuf, Limits, LlmEvent, RunEvent, RunRequest, Text};

use crate::seals;

/// One event as OpenAI's Responses API sends it for a token.
const PROVIDER_EVENT: &str = concat!(
    "event: response.output_text.delta\n",
    r#"data: {"type":"response.output_text.delta","content_index":0,"delta":" token","item_id":"#,
    r#""msg_0123456789abcdef0123456789abcdef0123456789abcdef01","logprobs":[],"obfuscation":"0123456789","#,
    r#""output_index":1,"sequence_number":1234}"#,
    "\n\n",
);
const DELTA: Text = Text::from_static(" token");
const DELTA_TO_ESCAPE: Text = Text::from_static("\"a\"\n");

/// Events of one burst: what a fast model's answer, or a replay, brings at once.
const BURST: usize = 64;

/// A part of the way of a token, or of a conversation, that is measured by itself. Each does the same work for every event.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    work: fn(usize) -> Result<usize, Box<dyn Error>>,
}

/// The stage that allocates exactly once per event: it shows whether allocations are counted rightly.
pub(crate) const CONTROL: Stage =
    Stage { name: "control", about: "one allocation of 32 bytes, as a check of the counts", work: control };

pub(crate) const STAGES: [Stage; 12] = [
    CONTROL,
    Stage { name: "sse-decode", about: "SSE decoder, one event in each chunk", work: |n| sse_decode(n, 1) },
    Stage {
        name: "sse-decode-burst",
        about: "SSE decoder, 64 events in each chunk",
        work: |n| sse_decode(n, BURST),
    },
    Stage { name: "machine", about: "run machine, one text delta in each step", work: machine },
    Stage {
        name: "encode",
        about: "AI SDK chunk of a text delta, as SSE",
        work: |n| encode(n, Framing::Sse, DELTA),
    },
    Stage {
        name: "encode-ndjson",
        about: "AI SDK chunk of a text delta, as NDJSON",
        work: |n| encode(n, Framing::Ndjson, DELTA),
    },
    Stage {
        name: "encode-escapes",
        about: "AI SDK chunk of a text delta of 4 characters, 3 of them escaped, as SSE",
        work: |n| encode(n, Framing::Sse, DELTA_TO_ESCAPE),
    },
    Stage {
        name: "relay",
        about: "SSE decoder, run machine and AI SDK encoder, one event after the other",
        work: relay,
    },
    Stage { name: "canonical", about: "canonical form of 1 KB of JSON", work: seals::canonical },
    Stage { name: "seal-delta", about: "sealer, one text delta", work: seals::delta },
    Stage {
        name: "seal-turn",
        about: "sealer, the ends of a turn: text, call and output",
        work: seals::turn,
    },
    Stage {
        name: "verify-turn",
        about: "verifier, a posted turn: text, call and output",
        work: seals::verify,
    },
];

impl Stage {
    pub(crate) fn named(name: &str) -> Option<Self> {
        STAGES.into_iter().find(|stage| stage.name == name)
    }

    /// Puts `events` events through the stage.
    ///
    /// # Errors
    ///
    /// When fewer or more came out than went in: then the figures would say nothing.
    pub(crate) fn run(self, events: usize) -> Result<(), Box<dyn Error>> {
        let came_out = (self.work)(events)?;
        if came_out == events {
            Ok(())
        } else {
            Err(format!("{}: {events} events went in and {came_out} came out", self.name).into())
        }
    }
}

fn control(events: usize) -> Result<usize, Box<dyn Error>> {
    for _ in 0..events {
        black_box(Vec::<u8>::with_capacity(black_box(32)));
    }
    Ok(events)
}

fn sse_decode(events: usize, per_chunk: usize) -> Result<usize, Box<dyn Error>> {
    let chunk = Bytes::from(PROVIDER_EVENT.repeat(per_chunk));
    let mut decoder = SseDecoder::new(Limits::default().max_sse_event_bytes);
    let mut count = 0;
    for _ in 0..events / per_chunk {
        decoder.feed(black_box(&chunk).clone());
        while let Some(event) = decoder.next_event()? {
            black_box(event);
            count += 1;
        }
    }
    Ok(count)
}

fn started(events: &mut EventBuf<RunEvent>) -> RunMachine {
    let mut machine =
        RunMachine::start(&RunRequest::prompt("Hello"), RunConfig::new("msg-2"), &NoTools, events);
    machine.next_action();
    machine
}

fn delta(text: &Text) -> Input {
    Input::Model(LlmEvent::TextDelta { block: 0, delta: text.clone() })
}

fn machine(events: usize) -> Result<usize, Box<dyn Error>> {
    let mut out = EventBuf::new();
    let mut machine = started(&mut out);
    // On the heap, as a decoder's views are: a static text would be cheaper to clone and drop.
    let text = Text::from(DELTA.as_str().to_owned());
    let mut count = 0;
    for _ in 0..events {
        machine.step(delta(black_box(&text)), &NoTools, &mut out);
        while let Some(event) = out.pop() {
            count += usize::from(matches!(black_box(event), RunEvent::TextDelta { .. }));
        }
    }
    Ok(count)
}

fn encode(events: usize, framing: Framing, delta: Text) -> Result<usize, Box<dyn Error>> {
    let mut encoder = Encoder::new(framing);
    let event = RunEvent::TextDelta { id: BlockId(0), delta };
    let mut out = BytesMut::new();
    let mut count = 0;
    for _ in 0..events {
        out.clear();
        encoder.encode(black_box(&event), &mut out);
        count += usize::from(!black_box(&out).is_empty());
    }
    Ok(count)
}

/// The three in a row. What reads a provider's JSON is not among them, so the machine is given the same delta each
/// time, a view into the chunk as a decoder would give.
fn relay(events: usize) -> Result<usize, Box<dyn Error>> {
    let chunk = Bytes::from(PROVIDER_EVENT.to_owned());
    let at = PROVIDER_EVENT.find(&*DELTA).ok_or("the event has no delta")?;
    let mut decoder = SseDecoder::new(Limits::default().max_sse_event_bytes);
    let mut run_events = EventBuf::new();
    let mut machine = started(&mut run_events);
    let mut encoder = Encoder::new(Framing::Sse);
    let mut out = BytesMut::new();
    let mut count = 0;
    for _ in 0..events {
        out.clear();
        decoder.feed(black_box(&chunk).clone());
        while let Some(event) = decoder.next_event()? {
            black_box(event);
            let text = Text::from_utf8(chunk.slice(at..at + DELTA.len()))?;
            machine.step(delta(&text), &NoTools, &mut run_events);
        }
        while let Some(event) = run_events.pop() {
            encoder.encode(&event, &mut out);
            count += usize::from(matches!(event, RunEvent::TextDelta { .. }));
        }
        black_box(&out);
    }
    Ok(count)
}
