use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body;

/// Memory set aside before the first byte of a body is here.
const FIRST_CAPACITY: usize = 64 * 1024;

/// Why a request's body could not be read.
#[derive(Debug)]
pub(super) enum ReadFailure {
    /// It is larger than it may be.
    TooLarge,
    /// It broke off.
    Broken,
}

/// Reads a body of at most `limit` bytes. Of one that is larger, up to twice that is thrown away before the refusal:
/// most clients look for an answer only when they have sent everything, and find a reset connection where nobody reads.
pub(super) async fn read_body<B>(body: B, limit: usize) -> Result<Bytes, ReadFailure>
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
        let Ok(data) = frame.map_err(|_| ReadFailure::Broken)?.into_data() else { continue };
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
        while data.has_remaining() {
            let chunk = data.chunk();
            read.extend_from_slice(chunk);
            let taken = chunk.len();
            data.advance(taken);
        }
    }
    if too_large { Err(ReadFailure::TooLarge) } else { Ok(read.freeze()) }
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

/// Whether the client asks for one JSON value a line and not for server-sent events.
pub(super) fn wants_ndjson(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case("application/x-ndjson"))
}
