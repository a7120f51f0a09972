use std::time::Duration;

use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Version, header};
use http_body::Body as _;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Error, ErrorCode, RunRequest};
use serde_json::{Map, Value, json};

use super::AssistantBody;
use super::opening::{self, Failure};
use super::read::Refusal;
use crate::Assistant;

/// Begins a run and streams what it does in a client's format; refuses a request that the assistant refuses.
pub(super) fn stream(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Response<AssistantBody> {
    try_stream(assistant, request, extensions, headers, encoder).unwrap_or_else(|refusal| refused(&refusal))
}

/// [`stream`], where a refusal has another form.
pub(super) fn try_stream(
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

/// Begins a run and streams what it does once it says something. One that fails before that has no answer but its
/// [`Failure`], which is to be told by a status.
pub(super) async fn stream_opened(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let run = assistant.try_run(request, extensions).map_err(NoAnswer::Refused)?;
    let keep_alive = assistant.limits().keep_alive;
    let body = opening::open(run, Box::new(encoder), keep_alive).await.map_err(NoAnswer::Failed)?;
    Ok(events(body, headers))
}

/// Why a run has no answer to stream.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The assistant refused the request.
    Refused(Error),
    /// It failed before it said anything.
    Failed(Failure),
}

/// A stream of events with the headers of its format.
pub(super) fn events(
    body: AssistantBody,
    headers: &[(&'static str, &'static str)],
) -> Response<AssistantBody> {
    let mut response = Response::new(body);
    // Middleware and proxies that compress hold events back until they have enough of them. They leave alone what is
    // encoded already, and few of them heed `no-transform`.
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// A run of the plain text routes that has no answer. Their clients show the body as it is.
pub(super) fn no_text(reason: &NoAnswer) -> Response<AssistantBody> {
    match reason {
        NoAnswer::Refused(refusal) => refused(refusal),
        NoAnswer::Failed(failure) => {
            let error = failure.error();
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = text(status, "text/plain; charset=utf-8", error.message.to_owned());
            failure.add_headers(response.headers_mut());
            response
        }
    }
}

/// A JSON document.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<AssistantBody> {
    text(status, "application/json", value.to_string())
}

pub(super) fn text(status: StatusCode, content_type: &'static str, text: String) -> Response<AssistantBody> {
    whole(status, content_type, AssistantBody::whole(text))
}

/// A body that is there already. It tells one principal something, now: nobody may keep it, or guess another type.
pub(super) fn whole(
    status: StatusCode,
    content_type: &'static str,
    body: AssistantBody,
) -> Response<AssistantBody> {
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

/// An error in the form that all routes use.
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response<AssistantBody> {
    json(status, &json!({ "error": { "code": code, "message": message } }))
}

/// The answer to a HEAD request, made of that to a GET.
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

pub(super) fn not_found() -> Response<AssistantBody> {
    error(StatusCode::NOT_FOUND, "not_found", "There is nothing at this path.")
}

pub(super) fn method_not_allowed(allow: &'static str) -> Response<AssistantBody> {
    let message = format!("This path takes {allow} only.");
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &message);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

/// A posted request that is not taken.
pub(super) fn refusal(refusal: &Refusal) -> Response<AssistantBody> {
    match refusal {
        Refusal::NotJson => {
            let message = "The body must be JSON, with content-type application/json.";
            error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
        }
        Refusal::TooLarge(limit) => {
            let error = json!({
                "code": "body_too_large",
                "message": format!("The body is larger than {limit} bytes."),
                "limit": { "name": "max_body_bytes", "value": limit },
            });
            json(StatusCode::PAYLOAD_TOO_LARGE, &json!({ "error": error }))
        }
        Refusal::Broken => {
            let message = "The body broke off before it was complete.";
            error(StatusCode::BAD_REQUEST, "incomplete_body", message)
        }
        Refusal::Unacceptable(error) => refused(error),
    }
}

/// What a client is told of its mistake.
pub(super) fn told(refusal: &Error) -> String {
    match (refusal.code(), std::error::Error::source(refusal)) {
        // serde_json says the line and column; nothing of the content.
        (ErrorCode::InvalidJson, Some(source)) => format!("{refusal}: {source}"),
        _ => refusal.to_string(),
    }
}

/// A request that was read and is not acceptable.
pub(super) fn refused(refusal: &Error) -> Response<AssistantBody> {
    let mut response = json(status_of(refusal), &json!({ "error": explained(refusal) }));
    add_retry_after(response.headers_mut(), refusal.retry_after());
    response
}

/// Says when to try again, where that is known.
pub(super) fn add_retry_after(headers: &mut HeaderMap, delay: Option<Duration>) {
    if let Some(delay) = delay {
        let seconds = delay.as_secs().saturating_add(u64::from(delay.subsec_nanos() > 0));
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// Asks a client of a server that is shutting down to open its next connection elsewhere. HTTP/2 has other means for
/// that, which are the host's, and forbids the header.
pub(super) fn part_ways(assistant: &Assistant, version: Version, response: &mut Response<AssistantBody>) {
    if assistant.is_draining() && version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// The status that says what kind of refusal this is.
pub(super) fn status_of(refusal: &Error) -> StatusCode {
    if refusal.is_conflict() {
        StatusCode::CONFLICT
    } else if refusal.is_throttled() {
        StatusCode::TOO_MANY_REQUESTS
    } else if refusal.is_unavailable() {
        StatusCode::SERVICE_UNAVAILABLE
    } else if refusal.is_internal() {
        StatusCode::INTERNAL_SERVER_ERROR
    } else {
        StatusCode::BAD_REQUEST
    }
}

/// What a refusal says, member by member.
pub(super) fn explained(refusal: &Error) -> Map<String, Value> {
    let mut error = Map::new();
    error.insert("code".to_owned(), refusal.code().as_str().into());
    error.insert("message".to_owned(), told(refusal).into());
    let fields = [("path", refusal.path()), ("expected", refusal.expected()), ("found", refusal.found())];
    for (name, value) in fields {
        if let Some(value) = value {
            error.insert(name.to_owned(), value.into());
        }
    }
    if let Some((name, value)) = refusal.limit() {
        error.insert("limit".to_owned(), json!({ "name": name, "value": value }));
    }
    error
}
