//! Refused requests, and the formats in which the dialects' clients read errors.

use std::borrow::Cow;
use std::time::Duration;

use bytes::BytesMut;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use omniassist_core::dialect::chat_completions::error_body;
use omniassist_core::{Error, ErrorCode};
use serde_json::{Map, Value, json};

use super::body::AssistantBody;
use super::reply;
use super::run_headers::RUN;
use crate::Refusal;
use crate::access::{AuthError, Refused};
use crate::engine::NotLoaded;

/// The longest `Retry-After` that OpenAI's clients wait for. After a longer one they repeat the request much too soon.
const LONGEST_OPENAI_WAIT: Duration = Duration::from_secs(60);

/// The code of JSON-RPC for a body that is not JSON.
const PARSE_ERROR: i32 = -32700;

/// The code of JSON-RPC for a request that is not answered.
const INVALID_REQUEST: i32 = -32600;

/// A format in which clients read errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum ErrorFormat {
    /// `{"error": {"code", "message", …}}`.
    Json,
    /// `{"error": {"message", "type", "param", "code"}}`.
    OpenAi,
    /// `{"error", "message", "code", "details"}`.
    CopilotKit,
    /// `{"jsonrpc", "id", "error": {"code", "message", "data"}}`.
    JsonRpc,
    /// The message alone, for clients that show the body as it is.
    PlainText,
}

/// A request that is not answered, independent of the format in which its client reads errors.
#[derive(Debug)]
pub(in crate::http) struct Rejection {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    /// Further members of the error object: `path`, `expected`, `found`, `limit`, `runId`.
    details: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    retry_after: Option<Duration>,
    /// Set for errors whose format does not depend on the route.
    format: Option<ErrorFormat>,
}

impl Rejection {
    pub(in crate::http) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: Map::new(),
            headers: Vec::new(),
            retry_after: None,
            format: None,
        }
    }

    pub(in crate::http) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is nothing at this path.")
    }

    pub(in crate::http) fn method_not_allowed(allowed: &[Method]) -> Self {
        let allowed = allowed.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("This path takes {allowed} only.");
        let rejection = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
        rejection.with_header(header::ALLOW, HeaderValue::from_str(&allowed).ok())
    }

    pub(in crate::http) fn not_json() -> Self {
        let message = "The body must be JSON, with content-type application/json.";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    /// Adds a member to the error object.
    pub(in crate::http) fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the limit that was passed.
    pub(in crate::http) fn with_limit(self, name: &str, value: usize) -> Self {
        self.with_detail("limit", json!({ "name": name, "value": value }))
    }

    pub(in crate::http) fn with_header(mut self, name: HeaderName, value: Option<HeaderValue>) -> Self {
        self.headers.extend(value.map(|value| (name, value)));
        self
    }

    pub(in crate::http) fn with_retry_after(mut self, delay: impl Into<Option<Duration>>) -> Self {
        self.retry_after = delay.into();
        self
    }

    /// Sets the format, regardless of the route.
    pub(in crate::http) fn in_format(mut self, format: ErrorFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Renders the rejection for the clients of a route.
    pub(in crate::http) fn into_response(self, route_format: ErrorFormat) -> Response<AssistantBody> {
        let format = self.format.unwrap_or(route_format);
        let mut response = match format {
            ErrorFormat::Json => reply::json(self.status, &json!({ "error": self.members() })),
            ErrorFormat::OpenAi => reply::json_bytes(self.status, self.openai_body()),
            ErrorFormat::CopilotKit => {
                let body = json!({
                    "error": self.title(),
                    "message": self.message,
                    "code": self.code,
                    "details": self.members(),
                });
                reply::json(self.status, &body)
            }
            ErrorFormat::JsonRpc => {
                let is_json = self.code != ErrorCode::InvalidJson.as_str();
                let code = if is_json { INVALID_REQUEST } else { PARSE_ERROR };
                let error = json!({ "code": code, "message": self.message, "data": self.members() });
                reply::json(self.status, &json!({ "jsonrpc": "2.0", "id": null, "error": error }))
            }
            ErrorFormat::PlainText => reply::text(self.status, reply::PLAIN_TEXT, self.message.into_owned()),
        };
        if let Some(delay) = self.retry_after {
            // Rounded up, because an earlier request is refused again.
            let seconds = delay.as_secs().saturating_add(u64::from(delay.subsec_nanos() > 0));
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            if format == ErrorFormat::OpenAi && delay > LONGEST_OPENAI_WAIT {
                response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
            }
        }
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }

    fn members(&self) -> Map<String, Value> {
        let mut members = self.details.clone();
        members.insert("code".to_owned(), self.code.into());
        members.insert("message".to_owned(), self.message.as_ref().into());
        members
    }

    fn openai_body(&self) -> BytesMut {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        // The code that OpenAI's clients recognise.
        let code =
            if self.code == ErrorCode::RateLimited.as_str() { "rate_limit_exceeded" } else { self.code };
        let param = self.details.get("path").and_then(Value::as_str);
        let mut body = BytesMut::new();
        error_body(&self.message, kind, param, Some(code), &mut body);
        body
    }

    /// Returns the title that CopilotKit's runtime gives such an error.
    fn title(&self) -> &'static str {
        match (self.code, self.status) {
            ("agent_not_found", _) => "Agent not found",
            (_, StatusCode::NOT_FOUND) => "Not found",
            (_, StatusCode::METHOD_NOT_ALLOWED) => "Method not allowed",
            (_, StatusCode::CONFLICT) => "Thread already running",
            (_, StatusCode::TOO_MANY_REQUESTS) => "Too many requests",
            (_, StatusCode::INTERNAL_SERVER_ERROR) => "Internal error",
            (_, StatusCode::SERVICE_UNAVAILABLE) => "Service unavailable",
            (
                _,
                StatusCode::BAD_REQUEST
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ) => "Invalid request body",
            (_, status) => status.canonical_reason().unwrap_or("Request refused"),
        }
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        let status = if error.is_conflict() {
            StatusCode::CONFLICT
        } else if error.is_gone() {
            StatusCode::GONE
        } else if error.code() == ErrorCode::IdempotencyKeyReused {
            StatusCode::UNPROCESSABLE_ENTITY
        } else if error.is_throttled() {
            StatusCode::TOO_MANY_REQUESTS
        } else if error.is_unavailable() {
            StatusCode::SERVICE_UNAVAILABLE
        } else if error.is_internal() {
            StatusCode::INTERNAL_SERVER_ERROR
        } else {
            StatusCode::BAD_REQUEST
        };
        let message = match (error.code(), std::error::Error::source(&error)) {
            // The source names line and column, and nothing of the content.
            (ErrorCode::InvalidJson, Some(source)) => format!("{error}: {source}"),
            _ => error.to_string(),
        };
        let mut rejection =
            Self::new(status, error.code().as_str(), message).with_retry_after(error.retry_after());
        let members = [("path", error.path()), ("expected", error.expected()), ("found", error.found())];
        for (name, value) in members {
            if let Some(value) = value {
                rejection = rejection.with_detail(name, value);
            }
        }
        if let Some(run) = error.run() {
            rejection = rejection.with_detail("runId", run).with_header(RUN, HeaderValue::from_str(run).ok());
        }
        match error.limit() {
            Some((name, value)) => rejection.with_limit(name, value),
            None => rejection,
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.http_status(), refusal.code(), refusal.message().to_string())
            .with_retry_after(refusal.delay())
    }
}

impl From<NotLoaded> for Rejection {
    fn from(reason: NotLoaded) -> Self {
        match reason {
            NotLoaded::Invalid(error) => error.into(),
            NotLoaded::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<Refused> for Rejection {
    fn from(refused: Refused) -> Self {
        let (status, code, message) = refused.answer();
        Self::new(status, code, message)
    }
}

impl From<AuthError> for Rejection {
    fn from(error: AuthError) -> Self {
        let (status, code, message) = error.answer();
        Self::new(status, code, message).with_header(header::WWW_AUTHENTICATE, error.challenge().cloned())
    }
}
