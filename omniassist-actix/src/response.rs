use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::header::{CONNECTION, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, StatusCode, Version};
use bytes::Bytes;
use http_body::Body;
use omniassist_server::http::{AssistantBody, CutAnswer};

/// Converts the assistant's response to a request of this HTTP version.
pub(crate) fn of(response: http::Response<AssistantBody>, version: Version) -> HttpResponse<ResponseBody> {
    let (parts, body) = response.into_parts();
    let status = StatusCode::from_u16(parts.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::with_body(status, ResponseBody::Assistant(Some(body)));
    for (name, value) in &parts.headers {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            response.headers_mut().append(name, value);
        }
    }
    // Actix writes this header itself, by the connection type.
    if response.headers_mut().remove(CONNECTION).any(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
    {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    if version < Version::HTTP_11 && response.body().size() == BodySize::Stream {
        // HTTP/1.0 has no chunks, but actix sends them by default. Without chunks, a body ends with its connection.
        response.head_mut().no_chunking(true);
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    response
}

/// Creates the response to a request that [`http`] cannot represent.
pub(crate) fn bad_request() -> HttpResponse<ResponseBody> {
    HttpResponse::with_body(StatusCode::BAD_REQUEST, ResponseBody::Assistant(None))
}

/// The assistant's body, polled by actix itself. Dropping it drops the run. An error closes the connection without
/// completing the response.
pub(crate) enum ResponseBody {
    Assistant(Option<AssistantBody>),
    #[cfg(feature = "ws")]
    Socket(crate::upgraded::Upgraded),
}

impl MessageBody for ResponseBody {
    type Error = CutAnswer;

    fn size(&self) -> BodySize {
        let length = match self {
            Self::Assistant(body) => body.as_ref().map_or(Some(0), |body| body.size_hint().exact()),
            #[cfg(feature = "ws")]
            Self::Socket(_) => None,
        };
        length.map_or(BodySize::Stream, BodySize::Sized)
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutAnswer>>> {
        let body = match &mut *self {
            Self::Assistant(Some(body)) => body,
            Self::Assistant(None) => return Poll::Ready(None),
            #[cfg(feature = "ws")]
            Self::Socket(bridge) => return bridge.poll_bytes(cx).map(|bytes| bytes.map(Ok)),
        };
        let frame = Pin::new(body).poll_frame(cx);
        // The assistant sends no trailers.
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default())))
    }
}
