//! Complete responses with the headers of their kind.

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, Version, header};
use http_body::Body as _;
use serde_json::Value;

use super::body::AssistantBody;

pub(in crate::http) const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// Creates a response with a JSON document.
pub(in crate::http) fn json(status: StatusCode, value: &Value) -> Response<AssistantBody> {
    text(status, "application/json", value.to_string())
}

/// Creates a response with a JSON document that is already serialised.
pub(in crate::http) fn json_bytes(status: StatusCode, json: BytesMut) -> Response<AssistantBody> {
    whole(status, "application/json", AssistantBody::whole(json.freeze()))
}

pub(in crate::http) fn text(
    status: StatusCode,
    content_type: &'static str,
    text: String,
) -> Response<AssistantBody> {
    whole(status, content_type, AssistantBody::whole(text))
}

/// Creates a response with a document of HTML.
pub(in crate::http) fn html(html: Bytes) -> Response<AssistantBody> {
    whole(StatusCode::OK, "text/html; charset=utf-8", AssistantBody::whole(html))
}

/// Creates a response that is complete. It is meant for one principal at one time, so it must not be cached.
fn whole(status: StatusCode, content_type: &'static str, body: AssistantBody) -> Response<AssistantBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Turns the response to a GET request into the response to a HEAD request.
pub(in crate::http) fn head(mut response: Response<AssistantBody>) -> Response<AssistantBody> {
    let has_length = response.status() != StatusCode::NOT_MODIFIED;
    if let Some(length) = response.body().size_hint().exact().filter(|_| has_length) {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response.map(AssistantBody::left_out)
}

pub(in crate::http) fn no_content() -> Response<AssistantBody> {
    let mut response = Response::new(AssistantBody::whole(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Asks the client to close the connection if the server is shutting down, or the request's body was not received.
/// HTTP/2 forbids the header; there the framework closes connections by other means.
pub(in crate::http) fn request_close(
    is_draining: bool,
    version: Version,
    response: &mut Response<AssistantBody>,
) {
    let is_unfinished = response.status() == StatusCode::REQUEST_TIMEOUT;
    if (is_draining || is_unfinished) && version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}
