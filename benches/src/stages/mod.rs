//! The stages that a token and a conversation pass through, each measured separately.

mod agents;
mod calls;
mod context;
pub(crate) mod conversation;
mod decode;
mod encode;
mod filters;
mod growing;
mod journal;
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

/// The number of events that a fast model's answer, or a replay, contains in one chunk.
pub(crate) const BURST: usize = 64;

/// A stage that is measured separately. It does the same work for every event.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The work of one event.
    pub(crate) size: Size,
    work: fn(usize) -> Outcome<usize>,
}

/// The work of one event of a stage. The number of measured events depends on it.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// At most a few microseconds.
    Token,
    /// Tens of microseconds.
    Part,
    /// A message of a conversation. Only whole conversations can be measured.
    Message,
    /// Milliseconds.
    Conversation,
}

impl Size {
    /// Returns the number of events to measure if `tokens` events of the smallest size are measured.
    pub(crate) fn events(self, tokens: usize) -> usize {
        match self {
            // A multiple of the burst, so that the last chunk is full.
            Self::Token => tokens.next_multiple_of(BURST),
            Self::Part => (tokens / 40).next_multiple_of(context::WINDOW),
            Self::Message => (tokens / 10).next_multiple_of(conversation::MESSAGES),
            Self::Conversation => (tokens / 5_000).max(1),
        }
    }
}

/// A stage that allocates exactly once per event, as a check of the counts.
pub(crate) const CONTROL: Stage =
    token("control", "one allocation of 32 bytes, as a check of the counts", control);

/// A conversation on its way to the provider, and the stages that it is compared with.
pub(crate) const CONVERSATION: [Stage; 3] = [
    Stage {
        name: "conversation",
        about: "1,000 messages read, verified, repaired, context added and written for the provider",
        size: Size::Conversation,
        work: conversation::to_provider,
    },
    Stage {
        name: "conversation-serde",
        about: "the same bytes parsed by serde_json into flat structs, tools' values as raw text",
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
    token("assistant-stored", "the same with seals and a store in memory", |n| {
        pipe::assistant(n, pipe::History::Stored)
    }),
    token("assistant-asked", "the same for an agent that a tool of the run asks", agents::served),
    token("run", "a run in process, one text delta", agents::root),
    token("agents-1", "the text of an agent that a tool of the run asks, one delta", |n| agents::asked(n, 1)),
    token("agents-64", "the text of 64 agents at the same time, one delta", |n| agents::asked(n, 64)),
    token("journal-write", "the journal of a run: text deltas, 5 in a segment", journal::write),
    token("journal-read", "the same segments read, and folded to the state of the run", journal::read),
    token("growing-text", "the parser of growing JSON, 4 bytes of a string", growing::text),
    token("growing-rows", "the parser of growing JSON, 4 bytes of a table's rows", growing::rows),
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

    /// Runs the stage with `events` events.
    ///
    /// # Errors
    ///
    /// Fails if the stage puts out fewer or more events, since the figures would be meaningless.
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
