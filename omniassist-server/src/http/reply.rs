use http::{Extensions, HeaderName, HeaderValue, Response, StatusCode, header};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Error, ErrorCode, RunRequest};
use serde_json::{Map, Value, json};

use super::AssistantBody;
use crate::Assistant;

/// Begins a run and streams what it does in a client's format; refuses a request that the assistant refuses.
pub(super) fn stream(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Response<AssistantBody> {
    let run = match assistant.try_run(request, extensions) {
        Ok(run) => run,
        Err(refusal) => return refused(&refusal),
    };
    let keep_alive = assistant.limits().keep_alive;
    events(AssistantBody::events(run, Box::new(encoder), keep_alive), headers)
}

/// A stream of events with the headers of its format.
pub(super) fn events(
    body: AssistantBody,
    headers: &[(&'static str, &'static str)],
) -> Response<AssistantBody> {
    let mut response = Response::new(body);
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// A JSON document.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<AssistantBody> {
    text(status, "application/json", value.to_string())
}

pub(super) fn text(status: StatusCode, content_type: &'static str, text: String) -> Response<AssistantBody> {
    let mut response = Response::new(AssistantBody::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// An error in the form that all routes use.
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response<AssistantBody> {
    json(status, &json!({ "error": { "code": code, "message": message } }))
}

pub(super) fn no_content() -> Response<AssistantBody> {
    let mut response = Response::new(AssistantBody::whole(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
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

pub(super) fn not_json() -> Response<AssistantBody> {
    let message = "The body must be JSON, with content-type application/json.";
    error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
}

pub(super) fn too_large(limit: usize) -> Response<AssistantBody> {
    let error = json!({
        "code": "body_too_large",
        "message": format!("The body is larger than {limit} bytes."),
        "limit": { "name": "max_body_bytes", "value": limit },
    });
    json(StatusCode::PAYLOAD_TOO_LARGE, &json!({ "error": error }))
}

pub(super) fn broken_body() -> Response<AssistantBody> {
    error(StatusCode::BAD_REQUEST, "incomplete_body", "The body broke off before it was complete.")
}

/// A request that was read and is not acceptable.
pub(super) fn refused(refusal: &Error) -> Response<AssistantBody> {
    let mut error = Map::new();
    error.insert("code".to_owned(), refusal.code().as_str().into());
    let message = match (refusal.code(), std::error::Error::source(refusal)) {
        // serde_json says the line and column; nothing of the content.
        (ErrorCode::InvalidJson, Some(source)) => format!("{refusal}: {source}"),
        _ => refusal.to_string(),
    };
    error.insert("message".to_owned(), message.into());
    let fields = [("path", refusal.path()), ("expected", refusal.expected()), ("found", refusal.found())];
    for (name, value) in fields {
        if let Some(value) = value {
            error.insert(name.to_owned(), value.into());
        }
    }
    if let Some((name, value)) = refusal.limit() {
        error.insert("limit".to_owned(), json!({ "name": name, "value": value }));
    }
    let status = if refusal.is_conflict() { StatusCode::CONFLICT } else { StatusCode::BAD_REQUEST };
    json(status, &json!({ "error": error }))
}
