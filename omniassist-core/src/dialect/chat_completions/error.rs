use std::borrow::Cow;

use bytes::{BufMut, BytesMut};

use crate::dialect::json_write::ObjectWriter;
use crate::event::RunErrorCode;

/// An error in this API's format, with the HTTP status for a response that has not started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorObject {
    /// HTTP status.
    pub status: u16,
    /// The error type that OpenAI's clients recognise (`type`).
    pub kind: &'static str,
    /// The stable code.
    pub code: &'static str,
    /// A message that is safe to show to anyone.
    pub message: Cow<'static, str>,
    /// `true` if sending the same request again may succeed. OpenAI's clients do so automatically for some statuses.
    pub is_retryable: bool,
}

impl ErrorObject {
    /// Returns the error of a failed run.
    #[must_use]
    pub fn of(code: RunErrorCode) -> Self {
        let (status, kind, is_retryable) = match code {
            RunErrorCode::RateLimited => (429, "rate_limit_error", true),
            RunErrorCode::ProviderUnavailable
            | RunErrorCode::ServerShutdown
            | RunErrorCode::LimitsUnavailable => (503, "server_error", true),
            RunErrorCode::TokenBudgetExceeded => (429, "rate_limit_error", false),
            RunErrorCode::Timeout => (504, "server_error", true),
            RunErrorCode::StreamInterrupted => (502, "server_error", true),
            RunErrorCode::ProviderError | RunErrorCode::InvalidToolCalls | RunErrorCode::InvalidAnswer => {
                (502, "server_error", false)
            }
            RunErrorCode::ContextOverflow | RunErrorCode::InvalidRequest => {
                (400, "invalid_request_error", false)
            }
            RunErrorCode::Refused(_) => (403, "invalid_request_error", false),
            RunErrorCode::ProviderAuth
            | RunErrorCode::MaxSteps
            | RunErrorCode::LimitExceeded
            | RunErrorCode::Internal => (500, "server_error", false),
        };
        let code_here = match code {
            // Clients check for these values.
            RunErrorCode::RateLimited => "rate_limit_exceeded",
            RunErrorCode::ContextOverflow => "context_length_exceeded",
            code => code.as_str(),
        };
        Self { status, kind, code: code_here, message: code.safe_message().into(), is_retryable }
    }

    /// Returns the error of a failed run with its message. Only the message of a refusal comes from the host.
    pub(super) fn of_event(code: RunErrorCode, message: &str) -> Self {
        let error = Self::of(code);
        match code {
            RunErrorCode::Refused(_) => Self { message: message.to_owned().into(), ..error },
            _ => error,
        }
    }

    /// Returns the error of a stopped run.
    #[must_use]
    pub fn stopped() -> Self {
        let message = "The answer was stopped before it was complete.";
        Self {
            status: 503,
            kind: "server_error",
            code: "aborted",
            message: message.into(),
            is_retryable: true,
        }
    }

    /// Appends the error as a JSON document.
    pub fn write(&self, out: &mut BytesMut) {
        error_body(&self.message, self.kind, None, Some(self.code), out);
    }
}

/// Appends `{"error": {"message", "type", "param", "code"}}`. `param` is the path of the invalid value in a request.
pub fn error_body(message: &str, kind: &str, param: Option<&str>, code: Option<&str>, out: &mut BytesMut) {
    out.put_slice(b"{\"error\":");
    let fields = ObjectWriter::new(out).field("message", message).field("type", kind);
    fields.field("param", &param).field("code", &code).end();
    out.put_u8(b'}');
}
