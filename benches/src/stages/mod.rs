//! The parts of the way of a token, and of a conversation, each measured by itself.

mod calls;
mod context;
pub(crate) mod conversation;
mod decode;
mod encode;
mod filters;
mod machine;
mod pipe;
pub(crate) mod seals;

use std::error::Error;
use std::hint::black_box;

use omniassist_core::{Text, dialect::ai_sdk::Framing};

use decode::Api;

/// The result of a stage, or of one of its parts.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// The text of one delta.
const DELTA: Text = Text::from_static(" token");
const DELTA_TO_ESCAPE: Text = Text::from_static("\"a\"\n");

/// Events of one burst: what a fast model's answer, or a replay, brings at once.
pub(crate) const BURST: usize = 64;

/// A part that is measured by itself. It does the same work for every event.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The work of one event.
    pub(crate) size: Size,
    work: fn(usize) -> Outcome<usize>,
}

/// The work of one event of a stage. It decides how many events are measured.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// Microseconds, at most.
    Token,
    /// Tens of microseconds.
    Part,
    /// A message of a conversation, of which only whole ones can be measured.
    Message,
    /// Milliseconds.
    Conversation,
}

impl Size {
    /// Events to measure where `tokens` of the smallest are.
    pub(crate) fn events(self, tokens: usize) -> usize {
        match self {
            // Whole bursts, so that each stage puts through exactly the number of events that it was given.
            Self::Token => tokens.next_multiple_of(BURST),
            Self::Part => (tokens / 40).next_multiple_of(context::WINDOW),
            Self::Message => (tokens / 10).next_multiple_of(conversation::MESSAGES),
            Self::Conversation => (tokens / 5_000).max(1),
        }
    }
}

/// The stage that allocates exactly once per event: it shows whether allocations are counted rightly.
pub(crate) const CONTROL: Stage =
    token("control", "one allocation of 32 bytes, as a check of the counts", control);

/// The conversation's way to the provider, and what it is compared with.
pub(crate) const CONVERSATION: [Stage; 3] = [
    Stage {
        name: "conversation",
        about: "1,000 messages read, verified, repaired, context added and written for the provider",
        size: Size::Conversation,
        work: conversation::to_provider,
    },
    Stage {
        name: "conversation-serde",
        about: "the same bytes parsed by serde_json into flat structs, tools' values left as they are",
        size: Size::Conversation,
        work: conversation::by_serde,
    },
    Stage {
        name: "conversation-serde-tagged",
        about: "the same bytes parsed by serde_json into structs with an enum of parts",
        size: Size::Conversation,
        work: conversation::by_serde_tagged,
    },
];

pub(crate) const STAGES: &[Stage] = &[
    CONTROL,
    token("sse-decode", "SSE decoder, one event in each chunk", |n| decode::sse(n, 1)),
    token("sse-decode-burst", "SSE decoder, 64 events in each chunk", |n| decode::sse(n, BURST)),
    token("decode-responses", "OpenAI Responses decoder: bytes to events", |n| {
        decode::provider(n, Api::Responses)
    }),
    token("decode-chat", "OpenAI Chat Completions decoder", |n| decode::provider(n, Api::Chat)),
    token("decode-anthropic", "Anthropic decoder", |n| decode::provider(n, Api::Anthropic)),
    token("decode-gemini", "Gemini decoder", |n| decode::provider(n, Api::Gemini)),
    token("machine", "run machine, one text delta in each step", machine::deltas),
    token("filter-pii", "the filter of personal data, one text delta of a word", filters::deltas),
    token("encode", "AI SDK chunk of a text delta, as SSE", |n| encode::ai_sdk(n, Framing::Sse, DELTA)),
    token("encode-ndjson", "AI SDK chunk of a text delta, as NDJSON", |n| {
        encode::ai_sdk(n, Framing::Ndjson, DELTA)
    }),
    token("encode-escapes", "AI SDK chunk of 4 characters, 3 of them escaped, as SSE", |n| {
        encode::ai_sdk(n, Framing::Sse, DELTA_TO_ESCAPE)
    }),
    token("encode-ag-ui", "AG-UI event of a text delta", encode::ag_ui),
    token("encode-chat", "OpenAI Chat Completions chunk of a text delta", encode::chat),
    token("encode-text", "plain text of a text delta", encode::text),
    token("pipe", "Responses decoder, run machine and AI SDK encoder in a row", |n| {
        pipe::parts(n, Api::Responses)
    }),
    token("pipe-chat", "the same behind the Chat Completions decoder", |n| pipe::parts(n, Api::Chat)),
    token("pipe-anthropic", "the same behind the Anthropic decoder", |n| pipe::parts(n, Api::Anthropic)),
    token("pipe-gemini", "the same behind the Gemini decoder", |n| pipe::parts(n, Api::Gemini)),
    token("assistant", "the whole assistant: Responses bytes to the bytes of its response body", |n| {
        pipe::assistant(n, pipe::History::Sealed)
    }),
    token("assistant-trusting", "the same without seals", |n| pipe::assistant(n, pipe::History::Trusted)),
    part("context", "context compression, per message of a window of 20", context::per_message),
    part("context-20", "context compression of 20 messages", context::whole),
    part("tool-call", "a tool call: checked, started, run and its outcome taken", calls::call),
    part("canonical", "canonical form of 1 KB of JSON", seals::canonical),
    token("seal-delta", "sealer, one text delta", seals::delta),
    part("seal-text", "sealer, 1 KB of text", seals::seal_text),
    part("seal-turn", "sealer, the ends of a turn: text, call and output", seals::seal_turn),
    part("verify-text", "verifier, 1 KB of text posted", seals::verify_text),
    part("verify-turn", "verifier, a posted turn: text, call and output", seals::verify_turn),
    Stage {
        name: "read",
        about: "reading a posted request, per message",
        size: Size::Message,
        work: conversation::read_per_message,
    },
    CONVERSATION[0],
    CONVERSATION[1],
    CONVERSATION[2],
];

const fn token(name: &'static str, about: &'static str, work: fn(usize) -> Outcome<usize>) -> Stage {
    Stage { name, about, size: Size::Token, work }
}

const fn part(name: &'static str, about: &'static str, work: fn(usize) -> Outcome<usize>) -> Stage {
    Stage { name, about, size: Size::Part, work }
}

impl Stage {
    pub(crate) fn named(name: &str) -> Option<Self> {
        STAGES.iter().copied().find(|stage| stage.name == name)
    }

    /// Puts `events` events through the stage.
    ///
    /// # Errors
    ///
    /// Fails if fewer or more events came out than went in, since the figures would then mean nothing.
    pub(crate) fn run(self, events: usize) -> Outcome<()> {
        let came_out = (self.work)(events)?;
        if came_out == events {
            Ok(())
        } else {
            Err(format!("{}: {events} events went in and {came_out} came out", self.name).into())
        }
    }
}

fn control(events: usize) -> Outcome<usize> {
    for _ in 0..events {
        black_box(Vec::<u8>::with_capacity(black_box(32)));
    }
    Ok(events)
}
