use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

/// The answer of a [`FakeProvider`](super::FakeProvider) to one request: its content, its pieces, its pace
/// and how it breaks.
///
/// Byte counts refer to the body before chunked framing.
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::testing::{Reply, responses_sse};
///
/// // Half an answer in pieces of 7 bytes, then a reset connection.
/// let cut = Reply::sse(responses_sse::text("Hello")).chunked_by(7).reset_after(200);
///
/// // A rate limit.
/// let limited = Reply::json(429, &serde_json::json!({"error": {"message": "slow down"}})).header("retry-after", "2");
///
/// // A model that thinks for a while.
/// let slow = Reply::sse(responses_sse::text("Hello")).delay(Duration::from_millis(50));
/// # let _ = (cut, limited, slow);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) piece: usize,
    pub(super) before_head: Duration,
    pub(super) before_body: Duration,
    pub(super) between: Duration,
    pub(super) framing: Framing,
    pub(super) after: Option<usize>,
    pub(super) ending: Ending,
    pub(super) raw: bool,
}

/// The way in which the end of the body is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    Length(u64),
    UntilClose,
}

/// The action after the last byte of the body that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The reply ends regularly, and the connection is kept.
    Whole,
    /// The connection is closed (FIN).
    Close,
    /// The connection is reset (RST).
    Reset,
    /// Nothing more is sent, and the connection stays open.
    Stall,
    /// The body is repeated for ever.
    Endless,
}

impl Reply {
    fn new(status: u16, media_type: &str, body: Bytes) -> Self {
        let headers = if media_type.is_empty() {
            Vec::new()
        } else {
            vec![("content-type".to_owned(), media_type.to_owned())]
        };
        Self {
            status,
            headers,
            body,
            piece: usize::MAX,
            before_head: Duration::ZERO,
            before_body: Duration::ZERO,
            between: Duration::ZERO,
            framing: Framing::Chunked,
            after: None,
            ending: Ending::Whole,
            raw: false,
        }
    }

    /// Creates a stream of server-sent events: status 200, `text/event-stream`, in one piece.
    pub fn sse(body: impl Into<Bytes>) -> Self {
        Self::new(200, "text/event-stream", body.into())
    }

    /// Creates a JSON answer: an error with its status, or, with 200, an error under a good status.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string().into())
    }

    /// Creates an HTML page, as a captive portal or a gateway sends it.
    pub fn html(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "text/html; charset=utf-8", body.into().into())
    }

    /// Creates an answer with a status and an empty body.
    pub fn status(status: u16) -> Self {
        Self::new(status, "", Bytes::new())
    }

    /// Creates a reply of raw bytes in place of status line, headers and framing. The connection is closed after them.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        let reply = Self::new(200, "", bytes.into());
        Self { raw: true, ending: Ending::Close, ..reply }
    }

    /// Reads the request and closes the connection without an answer, like a server whose idle timeout ends
    /// at that moment.
    pub fn hang_up() -> Self {
        Self::raw(Bytes::new())
    }

    /// Reads the request and resets the connection without an answer.
    pub fn reset() -> Self {
        Self { ending: Ending::Reset, ..Self::hang_up() }
    }

    /// Reads the request and never answers.
    pub fn silence() -> Self {
        Self { ending: Ending::Stall, ..Self::hang_up() }
    }

    /// Adds a header. A `content-type` replaces the existing one.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        if name.eq_ignore_ascii_case("content-type") {
            self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        self.headers.push((name, value.into()));
        self
    }

    /// Sends the body in pieces of this many bytes (at least 1). Each piece is one write and one chunk.
    /// Default: one piece.
    pub fn chunked_by(mut self, bytes: usize) -> Self {
        self.piece = bytes.max(1);
        self
    }

    /// Waits between two pieces of the body. Default: no wait.
    pub fn pace(mut self, pause: Duration) -> Self {
        self.between = pause;
        self
    }

    /// Waits between the headers and the first byte of the body.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.before_body = delay;
        self
    }

    /// Waits before the headers.
    pub fn delay_headers(mut self, delay: Duration) -> Self {
        self.before_head = delay;
        self
    }

    /// Closes the connection after this many bytes of the body, in the middle of the answer.
    pub fn cut_after(self, bytes: usize) -> Self {
        self.ending(Some(bytes), Ending::Close)
    }

    /// Resets the connection (TCP RST) after this many bytes of the body.
    pub fn reset_after(self, bytes: usize) -> Self {
        self.ending(Some(bytes), Ending::Reset)
    }

    /// Stops after this many bytes of the body and keeps the connection open. With 0 the headers are sent and
    /// the first byte never comes.
    pub fn stall_after(self, bytes: usize) -> Self {
        self.ending(Some(bytes), Ending::Stall)
    }

    /// Repeats the body until the client disconnects, as a line that never ends.
    pub fn endless(self) -> Self {
        self.ending(None, Ending::Endless)
    }

    /// Closes the connection after the whole reply, with `connection: close`.
    pub fn close(self) -> Self {
        let reply = self.header("connection", "close");
        Self { ending: Ending::Close, after: None, ..reply }
    }

    /// Announces this `content-length`, true or not. A shorter body is followed by the end of the connection.
    pub fn content_length(mut self, bytes: u64) -> Self {
        self.framing = Framing::Length(bytes);
        if bytes > self.body.len() as u64 {
            self.ending = Ending::Close;
        }
        self
    }

    /// Announces no length: the body ends with the connection, as in HTTP/1.0.
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self.ending = Ending::Close;
        self
    }

    fn ending(self, after: Option<usize>, ending: Ending) -> Self {
        Self { after, ending, ..self }
    }

    /// Returns the status line and headers as they are written.
    pub(super) fn head(&self) -> Bytes {
        let reason = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason.unwrap_or("Status"));
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        match self.framing {
            Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
            Framing::Length(bytes) => head.push_str(&format!("content-length: {bytes}\r\n")),
            Framing::UntilClose => {}
        }
        head.push_str("\r\n");
        head.into()
    }

    pub(super) fn is_chunked(&self) -> bool {
        self.framing == Framing::Chunked && !self.raw
    }

    /// Returns the part of the body that is sent.
    pub(super) fn sent(&self) -> Bytes {
        self.body.slice(..self.after.map_or(self.body.len(), |after| after.min(self.body.len())))
    }
}
