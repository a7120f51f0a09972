//! Receives request bodies within the limits of size, time and memory.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::Body;
use omniassist_core::{Error, Limits, json_guard};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use crate::http::response::Rejection;
use crate::quota::{Held, Quota, QuotaFull, Share};
use crate::{Assistant, Principal};

/// A body of at least this size that arrives in one piece is not copied. The piece of a smaller body may keep more
/// memory alive than the size of the body.
const ZERO_COPY_BYTES: usize = 64 * 1024;

/// The delay after which a principal's other bodies may have been received.
pub(in crate::http) const RETRY_OWN: Duration = Duration::from_secs(1);

/// The delay after which other bodies of all clients may have been received.
pub(in crate::http) const RETRY_ANY: Duration = Duration::from_secs(2);

/// The size of the smallest body whose files count until its run ends.
const HELD_BYTES: usize = 64 * 1024;

/// A received body. Its memory counts as in flight until this is dropped, or until the run of its request ends.
#[derive(Debug)]
pub(in crate::http) struct Received {
    pub(in crate::http) bytes: Bytes,
    upload: Option<Share>,
}

/// Receives a JSON body for an assistant. Its syntax, nesting and keys are left to the reader.
///
/// # Errors
///
/// Returns the errors of [`json`].
pub(in crate::http) async fn posted<B: Body>(
    assistant: &Assistant,
    parts: &mut Parts,
    body: B,
) -> Result<Received, Rejection> {
    json(parts, body, assistant.limits(), &assistant.access().uploads).await
}

/// Receives a JSON body, whose memory counts for the principal of the request. That of a large body is held by the
/// extensions, for the files in it.
///
/// # Errors
///
/// Returns an error if the headers announce something else than plain JSON, or the body passes a limit or breaks off.
pub(in crate::http) async fn json<B: Body>(
    parts: &mut Parts,
    body: B,
    limits: &Limits,
    uploads: &Arc<Quota>,
) -> Result<Received, Rejection> {
    require_plain_json(&parts.headers)?;
    let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
    let mut received = receive(body, limits, uploads.begin(principal)).await?;
    if received.bytes.len() >= HELD_BYTES
        && let Some(upload) = received.upload.take()
    {
        Held::insert(upload, &mut parts.extensions);
    }
    Ok(received)
}

/// Requires a body that is declared as JSON without content coding. HTML forms cannot declare JSON, and a script of
/// another origin must ask the browser for permission first.
///
/// # Errors
///
/// With status 415 otherwise.
pub(super) fn require_plain_json(headers: &HeaderMap) -> Result<(), Rejection> {
    if !is_json(headers) {
        return Err(Rejection::not_json());
    }
    require_no_coding(headers)
}

/// Requires a body without content coding.
///
/// # Errors
///
/// With status 415 otherwise.
pub(in crate::http) fn require_no_coding(headers: &HeaderMap) -> Result<(), Rejection> {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
    let mut codings = codings.flat_map(|value| value.split(|byte| *byte == b','));
    if codings.all(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    let message = "The body must be sent without content-encoding.";
    Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_content_encoding", message)
        .with_header(header::ACCEPT_ENCODING, Some(HeaderValue::from_static("identity"))))
}

/// Receives a body. Before a body that is too large is refused, up to twice the limit is received and discarded: most
/// clients read the answer only after they have sent the whole body.
///
/// # Errors
///
/// Returns an error if the body passes a limit of size, time or memory, or breaks off.
pub(in crate::http) async fn receive<B: Body>(
    body: B,
    limits: &Limits,
    mut upload: Share,
) -> Result<Received, Rejection> {
    let limit = limits.max_body_bytes;
    let announced = body.size_hint().lower();
    let mut too_large = announced > limit as u64;
    // The announced length bounds only the capacity of the buffer beyond the received bytes.
    let goal = usize::try_from(announced).ok().filter(|length| *length > 0).unwrap_or(limit).min(limit);
    let body = pin!(body);
    let mut buffer = Vec::new();
    let mut body = Paced::new(body, limits);
    while let Some(mut data) = body.next().await? {
        let received = body.received;
        too_large |= received > limit;
        if too_large {
            buffer = Vec::new();
            upload.release();
            if received > limit.saturating_mul(3) {
                break;
            }
            continue;
        }
        let (own, all) = (limits.max_body_bytes_per_principal, limits.max_body_bytes_in_flight);
        let mut reserve = |bytes| upload.grow_to(bytes, own, all).map_err(|full| refused(full, limits));
        if buffer.is_empty() && received >= ZERO_COPY_BYTES && body.body.is_end_stream() {
            reserve(received)?;
            return Ok(Received { bytes: data.copy_to_bytes(received), upload: Some(upload) });
        }
        if received > buffer.capacity() {
            let capacity = received.max(buffer.capacity().saturating_mul(2).min(goal));
            reserve(capacity)?;
            buffer.reserve_exact(capacity - buffer.len());
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            buffer.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    if too_large {
        let message = format!("The body is larger than {limit} bytes.");
        return Err(Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
            .with_limit("max_body_bytes", limit));
    }
    Ok(Received { bytes: buffer.into(), upload: Some(upload) })
}

/// A request body that must keep its pace.
pub(in crate::http) struct Paced<'a, B> {
    body: Pin<&'a mut B>,
    limits: &'a Limits,
    pace: Pace,
    pub(in crate::http) received: usize,
    /// The time at which the reader got the last piece.
    given: Instant,
}

impl<'a, B: Body> Paced<'a, B> {
    pub(in crate::http) fn new(body: Pin<&'a mut B>, limits: &'a Limits) -> Self {
        Self { body, limits, pace: Pace::new(limits), received: 0, given: Instant::now() }
    }

    /// Returns the announced number of further bytes; 0 if there is none.
    #[cfg(feature = "files")]
    pub(in crate::http) fn announced(&self) -> u64 {
        self.body.size_hint().lower()
    }

    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the body is too slow or breaks off.
    pub(in crate::http) async fn next(&mut self) -> Result<Option<B::Data>, Rejection> {
        // The time that the reader of the pieces takes, such as a slow store, is not the client's.
        self.pace.due += self.given.elapsed();
        let next = self.receive().await;
        self.given = Instant::now();
        next
    }

    async fn receive(&mut self) -> Result<Option<B::Data>, Rejection> {
        loop {
            let frame = poll_fn(|cx| self.body.as_mut().poll_frame(cx));
            let Ok(frame) = timeout_at(self.pace.due, frame).await else {
                self.pace.check(self.received, self.limits)?;
                continue;
            };
            let Some(frame) = frame else { return Ok(None) };
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
            self.received = self.received.saturating_add(data.remaining());
            return Ok(Some(data));
        }
    }

    /// Discards the rest of a refused body, until more than `limit` bytes were received in all or the body loses its pace.
    /// Most clients read the answer only after they have sent the whole body.
    pub(in crate::http) async fn discard(&mut self, limit: usize) {
        while self.received <= limit && !self.body.is_end_stream() {
            if !matches!(self.next().await, Ok(Some(_))) {
                return;
            }
        }
    }
}

/// The pace that a body must keep. Each period of [`Limits::body_timeout`] that does not complete the body must bring
/// as many bytes as [`Limits::min_body_rate`] gives for it. Each period is measured separately, so a client cannot send
/// most of the body at once and then withhold the rest for a long time.
struct Pace {
    /// The end of the period.
    due: Instant,
    /// Bytes of the body that must have been received by then.
    required: usize,
}

impl Pace {
    fn new(limits: &Limits) -> Self {
        let mut pace = Self { due: Instant::now(), required: 0 };
        pace.begin(0, limits);
        pace
    }

    fn begin(&mut self, received: usize, limits: &Limits) {
        self.due += limits.body_timeout;
        let bytes = (limits.min_body_rate as u128).saturating_mul(limits.body_timeout.as_millis()) / 1_000;
        // Without a rate, a period must bring at least one byte.
        self.required = received.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX).max(1));
    }

    /// Begins the next period.
    ///
    /// # Errors
    ///
    /// Returns an error if the period that has ended brought too little.
    fn check(&mut self, received: usize, limits: &Limits) -> Result<(), Rejection> {
        if received >= self.required {
            self.begin(received, limits);
            return Ok(());
        }
        let message = "The body was not received in time.";
        Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message))
    }
}

pub(in crate::http) fn broken() -> Rejection {
    let message = "The body broke off before it was complete.";
    Rejection::new(StatusCode::BAD_REQUEST, "incomplete_body", message)
}

fn refused(full: QuotaFull, limits: &Limits) -> Rejection {
    match full {
        QuotaFull::OfPrincipal => {
            let message = "You are sending too much at the same time. Try again in a moment.";
            Rejection::new(StatusCode::TOO_MANY_REQUESTS, "too_many_uploads", message)
                .with_limit("max_body_bytes_per_principal", limits.max_body_bytes_per_principal)
                .with_retry_after(RETRY_OWN)
        }
        QuotaFull::OfAll => {
            let message = "The server receives too many requests at the same time. Try again in a moment.";
            Rejection::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message).with_retry_after(RETRY_ANY)
        }
    }
}

/// Returns `true` if the body is declared as JSON.
pub(in crate::http) fn is_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// Reads a body that must be an object. `expected` describes it for the error.
///
/// # Errors
///
/// Returns an error if the body is not valid JSON, is nested too deeply, or is another value than the expected object.
pub(in crate::http) fn object<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    limits: &Limits,
    expected: &'static str,
) -> Result<T, Error> {
    json_guard::check(body, limits.max_json_depth)?;
    let wrong = || Error::invalid_field("body", expected, "something else");
    match serde_json::from_slice(body) {
        // The fields of a struct can also be those of an array.
        Ok(object) if body.trim_ascii_start().starts_with(b"{") => Ok(object),
        Err(error) if !error.is_data() => Err(Error::invalid_json(error)),
        _ => Err(wrong()),
    }
}

/// Returns `true` if the client asks for one JSON value a line instead of server-sent events.
pub(in crate::http) fn wants_ndjson(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/x-ndjson"));
        // A weight of zero refuses the type (RFC 9110, section 12.4.2).
        let weight =
            parts.filter_map(|part| part.split_once('=')).find(|(key, _)| key.eq_ignore_ascii_case("q"));
        is_named && weight.and_then(|(_, weight)| weight.parse().ok()).is_none_or(|weight: f32| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn a_large_body_in_one_piece_is_not_copied() {
        let mut limits = Limits::default();
        limits.max_body_bytes = ZERO_COPY_BYTES;
        let upload = || Arc::new(Quota::default()).begin(Principal::anonymous());
        for (length, is_shared) in [(0, false), (ZERO_COPY_BYTES - 1, false), (ZERO_COPY_BYTES, true)] {
            let posted = Bytes::from(vec![b' '; length]);
            let received = receive(Full::new(posted.clone()), &limits, upload()).await.unwrap().bytes;
            assert_eq!(received, posted);
            assert_eq!(length > 0 && received.as_ptr() == posted.as_ptr(), is_shared, "{length}");
        }
        let too_large = Full::new(Bytes::from(vec![b' '; ZERO_COPY_BYTES + 1]));
        let refused = receive(too_large, &limits, upload()).await;
        assert!(format!("{refused:?}").contains("body_too_large"));
    }
}
