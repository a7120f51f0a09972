//! Responses with the headers of their kind.

use bytes::BytesMut;
use http::{Extensions, HeaderName, HeaderValue, Response, StatusCode, Version, header};
use http_body::Body as _;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Error, RunRequest};
use serde_json::Value;

use super::first_event::{self, NoAnswer};
use super::{AssistantBody, ErrorFormat, Rejection};
use crate::Assistant;

pub(super) const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// Begins a run and streams its events in a client's format.
///
/// # Errors
///
/// When the assistant refuses the request.
pub(super) fn stream(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Result<Response<AssistantBody>, Error> {
    let run = assistant.try_run(request, extensions)?;
    let keep_alive = assistant.limits().keep_alive;
    Ok(events(AssistantBody::events(run, Box::new(encoder), keep_alive), headers))
}

/// Begins a run and streams its events from the first output on.
///
/// # Errors
///
/// When the assistant refuses the request, or the run fails before its first output.
pub(super) async fn stream_opened(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let run = assistant.try_run(request, extensions).map_err(NoAnswer::Refused)?;
    let keep_alive = assistant.limits().keep_alive;
    let body = first_event::open(run, Box::new(encoder), keep_alive).await?;
    Ok(events(body, headers))
}

/// [`stream_opened`] for plain text. A run that fails before its first output is answered with a status and one
/// sentence, since these clients show the body as it is.
pub(super) async fn stream_text(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    encoder: omniassist_core::dialect::text::Encoder,
) -> Result<Response<AssistantBody>, Rejection> {
    let headers = omniassist_core::dialect::text::HEADERS;
    stream_opened(assistant, request, extensions, headers, encoder).await.map_err(|reason| match reason {
        NoAnswer::Refused(error) => error.into(),
        NoAnswer::Failed(failure) => Rejection::from(failure).in_format(ErrorFormat::PlainText),
    })
}

/// Creates a response that streams events, with the headers of their format.
pub(super) fn events(
    body: AssistantBody,
    headers: &[(&'static str, &'static str)],
) -> Response<AssistantBody> {
    let mut response = Response::new(body);
    // Middleware and proxies that compress hold events back until they have enough of them. They leave alone what is
    // encoded already; few of them heed `no-transform`.
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Creates a response with a JSON document.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<AssistantBody> {
    text(status, "application/json", value.to_string())
}

/// Creates a response with a JSON document that is already serialised.
pub(super) fn json_bytes(status: StatusCode, json: BytesMut) -> Response<AssistantBody> {
    whole(status, "application/json", AssistantBody::whole(json.freeze()))
}

pub(super) fn text(status: StatusCode, content_type: &'static str, text: String) -> Response<AssistantBody> {
    whole(status, content_type, AssistantBody::whole(text))
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
pub(super) fn head(mut response: Response<AssistantBody>) -> Response<AssistantBody> {
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response.map(AssistantBody::left_out)
}

pub(super) fn no_content() -> Response<AssistantBody> {
    let mut response = Response::new(AssistantBody::whole(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Asks the client to close the connection where the server is shutting down, or the request's body was not received.
/// HTTP/2 forbids the header; there the framework closes connections by other means.
pub(super) fn request_close(assistant: &Assistant, version: Version, response: &mut Response<AssistantBody>) {
    let is_unfinished = response.status() == StatusCode::REQUEST_TIMEOUT;
    if (assistant.is_draining() || is_unfinished) && version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}
