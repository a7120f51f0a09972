use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http as actix;
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version, header};
use http_body::{Body, Frame, SizeHint};
use omniassist_server::PeerAddr;
use omniassist_server::http::{MountPath, strip_prefix};

use crate::carry::Carry;

/// Converts a request for the assistant, with the path below the scope that answers it. Returns `None` for a request that
/// [`http`] cannot represent.
pub(crate) fn below_scope(
    request: &HttpRequest,
    payload: Payload,
    carried: &[Carry],
) -> Option<Request<RequestBody>> {
    let mut of = whole(request, payload, carried)?;
    // Actix decodes paths before it matches them, except for `%2F`. So the number of slashes is reliable.
    let slashes = request.match_info().unprocessed().matches('/').count();
    let prefix = of.uri().path().rsplitn(slashes + 1, '/').last()?.to_owned();
    *of.uri_mut() = strip_prefix(of.uri(), &prefix)?;
    of.extensions_mut().get_or_insert_with(|| MountPath::new(prefix));
    Some(of)
}

/// Converts a request for the assistant. Returns `None` for a request that [`http`] cannot represent.
pub(crate) fn whole(
    request: &HttpRequest,
    payload: Payload,
    carried: &[Carry],
) -> Option<Request<RequestBody>> {
    let mut of = Request::new(RequestBody { payload, announced: 0, left: None });
    *of.method_mut() = Method::from_bytes(request.method().as_str().as_bytes()).ok()?;
    *of.uri_mut() = Uri::try_from(request.uri().to_string()).ok()?;
    *of.version_mut() = version(request.version());
    for (name, value) in request.headers() {
        let name = HeaderName::from_bytes(name.as_ref()).ok()?;
        of.headers_mut().append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
    }
    let announced =
        of.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    of.body_mut().announced = announced.unwrap_or(0);
    if offers_socket(request) {
        of.body_mut().left = announced.or(Some(0));
    }
    if let Some(peer) = request.peer_addr() {
        of.extensions_mut().insert(PeerAddr(peer));
    }
    for carry in carried {
        carry(request, of.extensions_mut());
    }
    Some(of)
}

/// Returns `true` for a request with `Upgrade: websocket`, whatever else it asks for. Actix passes on all that follows as its
/// payload, whatever length it announces, and writes an answer of unknown length without chunks.
fn offers_socket(request: &HttpRequest) -> bool {
    let headers = request.headers();
    let mut values = headers.get_all(actix::header::UPGRADE).filter_map(|value| value.to_str().ok());
    request.version() < actix::Version::HTTP_2
        && !headers.contains_key(actix::header::TRANSFER_ENCODING)
        && values.any(|value| value.trim().eq_ignore_ascii_case("websocket"))
}

/// Returns the version of HTTP whose framing the answer has.
pub(crate) fn answered_in(request: &HttpRequest) -> actix::Version {
    if offers_socket(request) { actix::Version::HTTP_10 } else { request.version() }
}

fn version(version: actix::Version) -> Version {
    match version {
        actix::Version::HTTP_09 => Version::HTTP_09,
        actix::Version::HTTP_10 => Version::HTTP_10,
        actix::Version::HTTP_2 => Version::HTTP_2,
        actix::Version::HTTP_3 => Version::HTTP_3,
        _ => Version::HTTP_11,
    }
}

/// The payload of an actix request as a body. Actix's own limits do not apply to it; the assistant's do.
pub struct RequestBody {
    payload: Payload,
    announced: u64,
    /// The rest of a body that actix does not end.
    left: Option<u64>,
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = PayloadError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PayloadError>>> {
        if self.left == Some(0) {
            return Poll::Ready(None);
        }
        let polled = ready!(Pin::new(&mut self.payload).poll_next(cx));
        Poll::Ready(match (polled, &mut self.left) {
            (Some(Ok(mut bytes)), Some(left)) => {
                // Actix closes the connection after the answer, so what follows the body is never read.
                bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
                Some(Ok(Frame::data(bytes)))
            }
            (None, Some(_)) => Some(Err(PayloadError::Incomplete(None))),
            (polled, _) => polled.map(|bytes| bytes.map(Frame::data)),
        })
    }

    fn size_hint(&self) -> SizeHint {
        // A middleware that decompresses the payload yields more bytes than the announced length.
        let mut hint = SizeHint::new();
        hint.set_lower(self.announced);
        hint
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody").field("announced", &self.announced).finish_non_exhaustive()
    }
}
