use bytes::{BufMut, BytesMut};

use super::{ClientVersion, prototype};
use crate::RunEvent;
use crate::dialect::DialectEncoder;
use crate::dialect::json_write::{self, ObjectWriter};
use crate::event::BlockId;

/// Response headers of [`Framing::Sse`]: those of the AI SDK's own server, except `connection`, which the HTTP server
/// sets, and those that keep proxies from changing or buffering the stream.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-store, no-transform"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    ("x-accel-buffering", "no"),
];

/// Response headers of [`Framing::Ndjson`].
pub const NDJSON_HEADERS: &[(&str, &str)] = &[
    ("content-type", "application/x-ndjson"),
    ("cache-control", "no-cache, no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// The framing of chunks in the response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Server-sent events, numbered by `id:` from 0 and ended by `data: [DONE]`.
    Sse,
    /// One chunk per line. Use it only for clients that request it: `useChat` reads such a body as an empty answer.
    Ndjson,
}

impl Framing {
    /// Returns the response headers as name and value.
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
/// Every event becomes one chunk. [`RunEvent::Error`] and [`RunEvent::ToolApprovalRequest`] are preceded by a
/// `message-metadata` chunk with the error code or the question. Data without a chunk type goes into the message's
/// metadata: `usage` at the end of the run, `error.code`, and `message` and `editable` in `omniassist.approvals[<call
/// id>]`. A client returns edited arguments in `approval.arguments` of the part.
///
/// If a run is stopped or interrupted after the calls of a step, or ends because all of them were cut off, an empty step is
/// written first. Clients with `sendAutomaticallyWhen` would otherwise post the message again, since all calls of its last
/// step have results.
///
/// Only fields that versions 5 to 7 all define are written. Optional fields are omitted rather than null. Clients of
/// these versions end the stream with an error at anything else. They also do so at a key `__proto__` (or `prototype`
/// under `constructor`) anywhere in a chunk, so these keys are removed.
#[derive(Debug, Clone)]
pub struct Encoder {
    framing: Framing,
    pub(super) version: ClientVersion,
    next_id: u64,
    pub(super) literal_step_start: bool,
    pub(super) last_step: LastStep,
}

/// The calls of the last step of the message, without those that the provider runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastStep {
    NoCalls,
    /// All calls have invalid or incomplete arguments.
    Failed,
    MayHaveCalls,
}

impl Encoder {
    /// Returns an encoder at the start of a response.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        let version = ClientVersion::default();
        Self { framing, version, next_id: 0, literal_step_start: false, last_step: LastStep::NoCalls }
    }

    /// Sets the version of the client. Default: [`ClientVersion::V6`].
    #[must_use]
    pub fn version(mut self, version: ClientVersion) -> Self {
        self.version = version;
        self
    }

    /// Sets whether a step begins with a chunk `step-start` instead of `start-step`. Default: `false`, because the AI
    /// SDK's clients end the stream with an error at `step-start`. See
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

    /// Writes a chunk. `fields` adds the fields after its type.
    pub(super) fn chunk(
        &mut self,
        out: &mut BytesMut,
        kind: &str,
        fields: impl FnOnce(ObjectWriter<'_>) -> ObjectWriter<'_>,
    ) {
        self.begin(out);
        let start = out.len();
        fields(ObjectWriter::new(out).field("type", kind)).end();
        prototype::remove_refused_keys(out, start);
        self.end(out);
    }

    /// Writes a delta with few operations, because most events of a run are deltas. `head` is the chunk up to the
    /// number of the block.
    pub(super) fn delta(&mut self, head: &'static str, id: BlockId, delta: &str, out: &mut BytesMut) {
        self.begin(out);
        out.put_slice(head.as_bytes());
        json_write::value(out, &id);
        out.put_slice(b"\",\"delta\":");
        json_write::value(out, delta);
        out.put_slice(match self.framing {
            Framing::Sse => b"}\n\n",
            Framing::Ndjson => b"}\n",
        });
    }

    fn begin(&mut self, out: &mut BytesMut) {
        // Reserves space for the frame and the fixed parts of a chunk, so that the buffer grows once.
        out.reserve(128);
        if self.framing == Framing::Sse {
            out.put_slice(b"id: ");
            json_write::value(out, &self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
            out.put_slice(b"\ndata: ");
        }
    }

    fn end(&self, out: &mut BytesMut) {
        out.put_slice(match self.framing {
            Framing::Sse => b"\n\n",
            Framing::Ndjson => b"\n",
        });
    }
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        self.chunks(event, out);
    }

    fn finish(&mut self, out: &mut BytesMut) {
        if self.framing == Framing::Sse {
            out.put_slice(b"data: [DONE]\n\n");
        }
    }

    fn takes_comments(&self) -> bool {
        self.framing == Framing::Sse
    }
}
