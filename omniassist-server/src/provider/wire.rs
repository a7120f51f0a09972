//! The common part of all decoders: server-sent events, and bodies that are not an event stream.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};
use omniassist_core::sse::SseDecoder;
use omniassist_core::{EventBuf, Limits, LlmEvent, Text};

use super::error_report;
use super::lenient_fields::is_complete_json;
use crate::provider::WireDecoder;
use crate::{Error, ProviderErrorKind, Result};

/// The event that ends an answer of Chat Completions.
pub(super) const DONE: &str = "[DONE]";

/// A decoder of the events of one API.
pub trait EventReader: Send {
    /// Takes an event. `name` is empty if the event has none.
    fn event(&mut self, name: &str, data: &Text, out: &mut EventBuf<LlmEvent>) -> Result<()>;

    fn end(&mut self, out: &mut EventBuf<LlmEvent>) -> Result<()>;

    /// Returns `true` if [`end`](Self::end) would succeed.
    fn is_complete(&self) -> bool;

    /// Returns `true` if only token counts can follow. Default: the value of [`is_complete`](Self::is_complete).
    fn has_ended(&self) -> bool {
        self.is_complete()
    }
}

/// A decoder of one API's event stream, for programs that have the bytes: a gateway, a test, a benchmark. The types of
/// the decoders are aliases of this type.
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::openai::ChatDecoder;
///
/// let mut decoder = ChatDecoder::new(&Limits::default(), "a1");
/// let mut events = EventBuf::new();
/// decoder.feed(Bytes::from_static(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"), &mut events)?;
/// assert!(matches!(events.pop(), Some(LlmEvent::Start { .. })));
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
pub struct ApiDecoder<R> {
    reader: R,
    sse: SseDecoder,
    body: Body,
    max_body_bytes: usize,
    failed: Option<ProviderErrorKind>,
}

/// The kind of the body, determined by its first byte that is not white space.
enum Body {
    Unknown,
    Events,
    /// One JSON value: an error with the status 200.
    Json(BytesMut),
}

impl<R: EventReader> ApiDecoder<R> {
    pub(super) fn of(reader: R, limits: &Limits) -> Self {
        Self {
            reader,
            sse: SseDecoder::new(limits.max_sse_event_bytes),
            body: Body::Unknown,
            max_body_bytes: limits.max_sse_event_bytes,
            failed: None,
        }
    }

    #[cfg(feature = "openai")]
    pub(super) fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    fn take(&mut self, mut chunk: Bytes, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        if matches!(self.body, Body::Unknown) {
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match chunk.get(blank) {
                // Gemini answers with a list if it does not stream events. Leading white space is dropped, as it is in
                // a separate chunk.
                Some(b'{' | b'[') => {
                    self.body = Body::Json(BytesMut::new());
                    chunk.advance(blank);
                }
                Some(b'<') => {
                    return Err(
                        Error::provider(ProviderErrorKind::Protocol).with_code("unexpected_content_type")
                    );
                }
                Some(_) => self.body = Body::Events,
                None => {}
            }
        }
        if let Body::Json(body) = &mut self.body {
            if body.len() + chunk.len() > self.max_body_bytes {
                return Err(Error::provider(ProviderErrorKind::TooLarge));
            }
            body.extend_from_slice(&chunk);
            return Ok(());
        }
        self.sse.feed(chunk);
        while let Some(event) = self.sse.next_event().map_err(broken_stream)? {
            self.reader.event(&event.event, &event.data, out)?;
        }
        Ok(())
    }

    fn close(&mut self, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        if let Body::Json(body) = &self.body {
            return Err(error_report::from_json_body(body));
        }
        while let Some(event) = self.sse.finish().map_err(broken_stream)? {
            // A browser drops an event without its blank line. A complete one is kept, because some servers close the
            // connection directly after the last event.
            if event.terminated || event.data.trim_ascii() == DONE || is_complete_json(&event.data) {
                self.reader.event(&event.event, &event.data, out)?;
            }
        }
        self.reader.end(out)
    }

    fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if let Some(kind) = self.failed {
            return Err(Error::provider(kind));
        }
        work(self).inspect_err(|error| {
            self.failed = Some(error.provider_kind().unwrap_or(ProviderErrorKind::Protocol));
        })
    }
}

impl<R: EventReader> WireDecoder for ApiDecoder<R> {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.guarded(|wire| wire.take(chunk, events))
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.guarded(|wire| wire.close(events))
    }

    fn is_complete(&self) -> bool {
        self.failed.is_none() && self.reader.is_complete()
    }

    fn has_ended(&self) -> bool {
        self.failed.is_none() && self.reader.has_ended()
    }
}

impl<R> fmt::Debug for ApiDecoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiDecoder").field("failed", &self.failed).finish_non_exhaustive()
    }
}

fn broken_stream(source: omniassist_core::Error) -> Error {
    let kind = if source.is_limit() { ProviderErrorKind::TooLarge } else { ProviderErrorKind::Protocol };
    Error::provider(kind).with_source(source)
}

/// Returns the error for data that looks like JSON but is not.
pub(super) fn broken_json(source: serde_json::Error) -> Error {
    Error::provider(ProviderErrorKind::Protocol).with_code("invalid_json").with_source(source)
}

/// Returns `true` if data may be an object. Some servers send keep-alives as data that is empty or not JSON.
pub(super) fn is_object(data: &str) -> bool {
    data.trim_ascii_start().starts_with('{')
}
