use bytes::{BufMut, BytesMut};

use super::ClientVersion;
use super::chunk::{self, Block};
use crate::RunEvent;
use crate::dialect::{DialectEncoder, json_write};
use crate::event::{ApprovalRequest, BlockId};

/// Response headers of [`Framing::Sse`]: those of the AI SDK's own server (but `connection`, which belongs to the HTTP
/// server), and what keeps proxies from changing or holding back the stream.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    ("x-accel-buffering", "no"),
];

/// Response headers of [`Framing::Ndjson`].
pub const NDJSON_HEADERS: &[(&str, &str)] = &[
    ("content-type", "application/x-ndjson"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
];

/// The framing of chunks in the response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Server-sent events, numbered by `id:` from 0 and ended by `data: [DONE]`.
    Sse,
    /// One chunk a line, and nothing else. Only for clients that ask for it: `useChat` reads such a body as an empty
    /// answer.
    Ndjson,
}

impl Framing {
    /// The response headers, as name and value.
    #[must_use]
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Sse => HEADERS,
            Self::Ndjson => NDJSON_HEADERS,
        }
    }
}

/// Writes a run's events as chunks of the UI message stream.
///
/// Every event becomes one chunk, but for [`RunEvent::Error`] and [`RunEvent::ToolApprovalRequest`], whose code and whose
/// question go ahead in a `message-metadata` chunk. What has no chunk of its own goes into the message's metadata:
/// `usage` with the end of the run, `error.code`, and `omniassist.approvals[<call id>].message`.
///
/// Only fields that all of versions 5 to 7 list are written, optional ones only where they say something, and never
/// as null: clients of these versions end the stream with an error at anything else. So they do at a key `__proto__`
/// (or `prototype` under `constructor`) anywhere in a chunk; these are left out.
#[derive(Debug, Clone)]
pub struct Encoder {
    framing: Framing,
    version: ClientVersion,
    next_id: u64,
    literal_step_start: bool,
    delta_head: DeltaHead,
}

/// The start of a delta's frame, which is the same for all deltas of a block.
#[derive(Debug, Clone, Default)]
struct DeltaHead {
    of: Option<(Block, BlockId)>,
    bytes: BytesMut,
}

impl Encoder {
    /// An encoder at the start of a response.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            version: ClientVersion::default(),
            next_id: 0,
            literal_step_start: false,
            delta_head: DeltaHead::default(),
        }
    }

    /// For a client of this version. Default: [`ClientVersion::V6`].
    #[must_use]
    pub fn version(mut self, version: ClientVersion) -> Self {
        self.version = version;
        self
    }

    /// Sets whether a step begins with a chunk `step-start` instead of `start-step`. Default `false`: the AI SDK's clients end
    /// the stream with an error at it. See
    /// [`BridgeOptions::literal_step_start`](crate::bridge::BridgeOptions::literal_step_start).
    #[must_use]
    pub fn literal_step_start(mut self, literal: bool) -> Self {
        self.literal_step_start = literal;
        self
    }

    /// Returns the framing of the chunks.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Appends an event to `out`. Allocates nothing for a delta but room in `out`.
    pub fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::TextDelta { id, delta } => return self.delta(Block::Text, *id, delta, out),
            RunEvent::ReasoningDelta { id, delta } => return self.delta(Block::Reasoning, *id, delta, out),
            _ => {}
        }
        if let RunEvent::Error { code, .. } = event {
            self.frame(out, |out| chunk::error_code(out, *code));
        }
        if let RunEvent::ToolApprovalRequest(ApprovalRequest { call_id, message: Some(message), .. }) = event
        {
            self.frame(out, |out| chunk::question(out, call_id, message));
        }
        if let RunEvent::ToolRefused { call_id, reason } = event
            && self.version >= ClientVersion::V7
        {
            for asks in [true, false] {
                self.frame(out, |out| chunk::automatic_denial(out, call_id, reason, asks));
            }
        }
        if self.literal_step_start && matches!(event, RunEvent::StepStart) {
            return self.frame(out, |out| out.put_slice(br#"{"type":"step-start"}"#));
        }
        if chunk::has_chunk(event) {
            let version = self.version;
            self.frame(out, |out| chunk::chunk(out, event, version));
        }
    }

    /// Appends the end of the response. It follows every run, also one that failed or was stopped.
    pub fn finish(&mut self, out: &mut BytesMut) {
        match self.framing {
            Framing::Sse => out.put_slice(b"data: [DONE]\n\n"),
            Framing::Ndjson => {}
        }
    }

    /// Writes a delta in as few pieces as possible: nearly all that a run sends are deltas.
    fn delta(&mut self, block: Block, id: BlockId, delta: &str, out: &mut BytesMut) {
        if self.delta_head.of != Some((block, id)) {
            self.delta_head.of = Some((block, id));
            self.delta_head.bytes.clear();
            if self.framing == Framing::Sse {
                self.delta_head.bytes.put_slice(b"\ndata: ");
            }
            chunk::delta_head(&mut self.delta_head.bytes, block, id);
        }
        // Room for the fixed parts too, so that the buffer grows once.
        out.reserve(128 + delta.len());
        let end: &[u8] = match self.framing {
            Framing::Sse => {
                self.put_id(out);
                b"}\n\n"
            }
            Framing::Ndjson => b"}\n",
        };
        out.put_slice(&self.delta_head.bytes);
        json_write::string(out, delta);
        out.put_slice(end);
    }

    fn put_id(&mut self, out: &mut BytesMut) {
        out.put_slice(b"id: ");
        json_write::number(out, self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
    }

    fn frame(&mut self, out: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
        // Room for the frame and the fixed parts of a delta, so that the buffer grows once.
        out.reserve(128);
        match self.framing {
            Framing::Sse => {
                self.put_id(out);
                out.put_slice(b"\ndata: ");
                write(out);
                out.put_slice(b"\n\n");
            }
            Framing::Ndjson => {
                write(out);
                out.put_u8(b'\n');
            }
        }
    }
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        Self::encode(self, event, out);
    }

    fn finish(&mut self, out: &mut BytesMut) {
        Self::finish(self, out);
    }

    fn takes_comments(&self) -> bool {
        self.framing == Framing::Sse
    }
}
