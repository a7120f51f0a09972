use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body;
use omniassist_core::{Error, Limits, json_guard};

/// Memory set aside before the first byte of a body is here.
const FIRST_CAPACITY: usize = 64 * 1024;

/// Why a posted request is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Its body is not said to be JSON.
    NotJson,
    /// Its body is larger than this many bytes.
    TooLarge(usize),
    /// Its body broke off.
    Broken,
    /// What it says is not acceptable.
    Unacceptable(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Unacceptable(error)
    }
}

/// Reads a body that must be JSON, within the limits of size and nesting, without a key that stands twice. Whether it is
/// JSON is for the parser to say.
pub(super) async fn json_body<B: Body>(
    headers: &HeaderMap,
    body: B,
    limits: &Limits,
) -> Result<Bytes, Refusal> {
    let body = unguarded_json_body(headers, body, limits).await?;
    json_guard::check(&body, limits.max_json_depth)?;
    Ok(body)
}

/// Reads a body that is said to be JSON, within the limit of size, for a parser that looks at nesting and keys itself.
pub(super) async fn unguarded_json_body<B: Body>(
    headers: &HeaderMap,
    body: B,
    limits: &Limits,
) -> Result<Bytes, Refusal> {
    if !is_json(headers) {
        return Err(Refusal::NotJson);
    }
    read_body(body, limits.max_body_bytes).await
}

/// Reads a body of at most `limit` bytes. Of one that is larger, up to twice that is thrown away before the refusal:
/// most clients look for an answer only when they have sent everything, and find a reset connection where nobody reads.
pub(super) async fn read_body<B>(body: B, limit: usize) -> Result<Bytes, Refusal>
where
    B: Body,
{
    let announced = body.size_hint().lower();
    let mut too_large = announced > limit as u64;
    let mut body = pin!(body);
    // What a client announces costs it nothing, so little memory is set aside for it.
    let capacity = usize::try_from(announced).unwrap_or(0).min(FIRST_CAPACITY);
    let mut read = BytesMut::with_capacity(if too_large { 0 } else { capacity });
    let mut discarded = 0;
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let Ok(data) = frame.map_err(|_| Refusal::Broken)?.into_data() else { continue };
        too_large |= data.remaining() > limit - read.len();
        if too_large {
            read = BytesMut::new();
            discarded += data.remaining();
            if discarded > limit.saturating_mul(2) {
                break;
            }
            continue;
        }
        let mut data = data;
        // A large body that came in one piece is not copied. Of a small one the piece may keep more alive than it is.
        if read.is_empty() && data.remaining() >= FIRST_CAPACITY && body.is_end_stream() {
            return Ok(data.copy_to_bytes(data.remaining()));
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            read.extend_from_slice(chunk);
            let taken = chunk.len();
            data.advance(taken);
        }
    }
    if too_large { Err(Refusal::TooLarge(limit)) } else { Ok(read.freeze()) }
}

/// Whether the body is said to be JSON. A plain HTML form cannot say so, and a script of another origin must ask the
/// browser's permission first.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// Whether a request that needs no body is said to have none, or JSON.
pub(super) fn is_json_or_nothing(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::CONTENT_TYPE) || is_json(headers)
}

/// Whether the client asks for one JSON value a line and not for server-sent events.
pub(super) fn wants_ndjson(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case("application/x-ndjson"))
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn a_large_body_in_one_piece_is_taken_as_it_is() {
        for (length, is_taken) in [(0, false), (FIRST_CAPACITY - 1, false), (FIRST_CAPACITY, true)] {
            let posted = Bytes::from(vec![b' '; length]);
            let read = read_body(Full::new(posted.clone()), FIRST_CAPACITY).await.unwrap();
            assert_eq!(read, posted);
            assert_eq!(length > 0 && read.as_ptr() == posted.as_ptr(), is_taken, "{length}");
        }
        let refused = read_body(Full::new(Bytes::from(vec![b' '; FIRST_CAPACITY + 1])), FIRST_CAPACITY).await;
        assert!(matches!(refused, Err(Refusal::TooLarge(FIRST_CAPACITY))));
    }
}
