use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use serde_json::Value;
use tokio::time::Instant;

use super::request::ReadError;
use super::response::BodyKind;
use crate::{Error, ProviderErrorKind};

/// The maximum number of bytes of an error's body that are read.
const MAX_BODY: usize = 64 << 10;
/// The maximum number of bytes of it that are logged.
const MAX_DETAIL: usize = 2 << 10;

/// An answer that is not a stream of events. Its body is read for the reason.
pub(super) struct FailedAnswer {
    kind: BodyKind,
    status: u16,
    body: reqwest::Body,
    read: BytesMut,
    deadline: Instant,
}

impl FailedAnswer {
    pub(super) fn new(kind: BodyKind, status: u16, body: reqwest::Body, deadline: Instant) -> Self {
        Self { kind, status, body, read: BytesMut::new(), deadline }
    }

    /// Returns the time after which no more of the body is read. The error then has the bytes read so far.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Reads the body. Ready at its end, or when the limit is reached.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.kind == BodyKind::Redirect {
            return Poll::Ready(());
        }
        loop {
            let Some(Ok(frame)) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else {
                return Poll::Ready(());
            };
            let Ok(data) = frame.into_data() else { continue };
            let room = MAX_BODY - self.read.len();
            self.read.extend_from_slice(data.get(..room).unwrap_or(&data));
            if self.read.len() == MAX_BODY || self.has_events() {
                return Poll::Ready(());
            }
        }
    }

    /// Returns `true` for a stream of events that a gateway declares as JSON. No JSON text begins like a field or a comment.
    fn has_events(&self) -> bool {
        let first = self.read.iter().find(|byte| !byte.is_ascii_whitespace());
        self.kind == BodyKind::Json && first.is_some_and(|byte| b"deir:".contains(byte))
    }

    /// Returns the body, and what was read of it, if it is a stream of events after all.
    pub(super) fn into_events(self) -> Result<(reqwest::Body, Bytes), Self> {
        if self.has_events() { Ok((self.body, self.read.freeze())) } else { Err(self) }
    }

    pub(super) fn to_error(&self, read_error: ReadError) -> Error {
        let (status, error) = match self.kind {
            BodyKind::Refusal => (self.status, read_error(self.status, &self.read)),
            BodyKind::Json => self.read_json(read_error),
            BodyKind::Redirect => {
                let error = Error::provider(ProviderErrorKind::Response);
                return error.with_status(self.status).with_detail("a redirect, which is not followed");
            }
            BodyKind::Page | BodyKind::Encoded | BodyKind::Events => {
                (self.status, Error::provider(ProviderErrorKind::Protocol))
            }
        };
        let error = error.with_status(status);
        if error.detail().is_some() { error } else { error.with_detail(self.detail()) }
    }

    /// Reads JSON under a good status: an error, or an answer that was not streamed.
    fn read_json(&self, read_error: ReadError) -> (u16, Error) {
        let mut body: Value = serde_json::from_slice(&self.read).unwrap_or_default();
        // Gemini answers with a list if it does not stream events.
        if let Some(first) = body.as_array_mut().and_then(|list| list.first_mut()) {
            body = first.take();
        }
        let is_answer = ["choices", "output", "candidates"].into_iter().any(|name| body.get(name).is_some());
        if is_answer && body.get("error").is_none_or(Value::is_null) {
            return (self.status, Error::provider(ProviderErrorKind::Protocol));
        }
        let carried = ["/error/status", "/error/code", "/status", "/code", "/error/http_code"];
        let carried = carried.iter().find_map(|pointer| body.pointer(pointer)?.as_u64());
        let status = carried.and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| (400..600).contains(status)).unwrap_or(self.status);
        (status, read_error(status, &self.read))
    }

    fn detail(&self) -> String {
        let start = self.read.get(..MAX_DETAIL).unwrap_or(&self.read);
        let text = String::from_utf8_lossy(start);
        if self.kind == BodyKind::Encoded { "a compressed body".to_owned() } else { text.into_owned() }
    }
}
