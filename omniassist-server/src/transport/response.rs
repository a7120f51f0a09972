use std::time::{Duration, SystemTime};

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use super::{redact, retry_after};
use crate::Error;

/// The kind of an answer's body, by status and headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// The stream of events that the request asks for.
    Events,
    /// An error with a status.
    Refusal,
    /// A redirect, which is not followed.
    Redirect,
    /// JSON under a good status: an error that lost its status, or an answer that is not streamed.
    Json,
    /// A page, as captive portals and gateways send.
    Page,
    /// A compressed body that cannot be read, although the request asks for none. With the feature `gzip`, gzip is
    /// decoded earlier.
    Encoded,
}

impl BodyKind {
    pub(super) fn of(status: StatusCode, headers: &HeaderMap) -> Self {
        if status.is_redirection() {
            return Self::Redirect;
        }
        if !status.is_success() {
            return Self::Refusal;
        }
        let encoding = headers.get(CONTENT_ENCODING).map(http::HeaderValue::as_bytes);
        if encoding.is_some_and(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity")) {
            return Self::Encoded;
        }
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media_type.as_str() {
            "application/json" | "application/problem+json" => Self::Json,
            "text/html" | "application/xhtml+xml" => Self::Page,
            // Compatible servers send event streams as text/plain, as octet-stream and without any type.
            _ => Self::Events,
        }
    }
}

/// The headers of an answer that are added to any error of that answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    retry_after: Option<Duration>,
    request_id: Option<String>,
}

impl Origin {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let request_id = ["x-request-id", "request-id"].iter().find_map(|name| headers.get(*name));
        Self {
            retry_after: retry_after::read(headers, SystemTime::now()),
            request_id: request_id.and_then(|value| value.to_str().ok()).map(str::to_owned),
        }
    }

    /// Completes an error, and removes the request's credentials from the provider's texts.
    pub(super) fn complete(&self, mut error: Error, request_headers: &HeaderMap) -> Error {
        if let (None, Some(delay)) = (error.retry_after(), self.retry_after) {
            error = error.with_retry_after(delay);
        }
        if let (None, Some(id)) = (error.provider_request_id(), &self.request_id) {
            error = error.with_request_id(id);
        }
        let clean = |text: Option<&str>| text.map(|text| redact::redact(text, request_headers));
        let (detail, code) = (clean(error.detail()), clean(error.code()));
        let request_id = clean(error.provider_request_id());
        if let Some(detail) = detail {
            error = error.with_detail(detail);
        }
        if let Some(code) = code {
            error = error.with_code(code);
        }
        if let Some(request_id) = request_id {
            error = error.with_request_id(request_id);
        }
        error
    }
}
