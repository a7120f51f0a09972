use bytes::BytesMut;
use http::{Response, StatusCode};
use omniassist_core::dialect::chat_completions::error_body;
use serde_json::json;

use super::{AssistantBody, copilotkit, openai, reply};

/// The form in which the clients of a route read errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"error": {"code", "message"}}`.
    Own,
    /// `{"error": {"message", "type", "param", "code"}}`.
    OpenAi,
    /// `{"error", "message", "code"}`.
    CopilotKit,
}

impl Shape {
    /// The form of errors on this path, which is one below the mount point.
    pub(super) fn of(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        if copilotkit::has(path) {
            Self::CopilotKit
        } else if openai::path(path).is_some() {
            Self::OpenAi
        } else {
            Self::Own
        }
    }

    /// An error without a place in the request.
    pub(super) fn error(self, status: StatusCode, code: &str, message: &str) -> Response<AssistantBody> {
        match self {
            Self::Own => reply::error(status, code, message),
            Self::OpenAi => {
                let kind = if status.is_server_error() { "server_error" } else { openai::INVALID };
                let mut out = BytesMut::new();
                error_body(message, kind, None, Some(code), &mut out);
                openai::body(status, out)
            }
            Self::CopilotKit => {
                let title = status.canonical_reason().unwrap_or("Request refused");
                reply::json(status, &json!({"error": title, "message": message, "code": code}))
            }
        }
    }
}
