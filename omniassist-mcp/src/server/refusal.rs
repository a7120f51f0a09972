//! Errors of the protocol. What a model can act on is the result of its call instead.

use omniassist_server::core::Error;
use omniassist_server::tool::ToolError;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

/// The code of a request that the server cannot serve now.
const NOT_NOW: ErrorCode = ErrorCode(-32000);

/// Returns the answer to a name of no tool, also if there is one that the caller does not see.
pub(super) fn unknown_tool() -> ErrorData {
    ErrorData::invalid_params("There is no tool of this name.", None)
}

/// Returns the answer to a URI of no resource, also if there is one that the caller does not see.
pub(super) fn unknown_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("There is no resource of this URI.", Some(json!({ "uri": uri })))
}

/// Returns the answer to a name of no prompt, also if there is one that the caller does not see.
pub(super) fn unknown_prompt() -> ErrorData {
    ErrorData::invalid_params("There is no prompt of this name.", None)
}

/// Returns the answer to a cursor of no item. Its item may have been removed.
pub(super) fn unknown_cursor() -> ErrorData {
    ErrorData::invalid_params("The cursor is unknown. Read the list from its beginning.", None)
}

/// Returns the answer to parameters that do not fit their method.
pub(super) fn unreadable() -> ErrorData {
    ErrorData::invalid_params("The parameters do not fit the method.", None)
}

/// Returns the answer to a method that the server does not have.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)
}

/// Returns the answer to a completion of something else than a prompt or a resource.
pub(super) fn unknown_reference() -> ErrorData {
    ErrorData::invalid_params("The reference is of an unknown kind.", None)
}

/// Returns the answer that a client does not read, because it has left.
pub(super) fn left() -> ErrorData {
    ErrorData::internal_error("The client has left.", None)
}

/// Returns the answer to a request whose function of the host panicked.
pub(super) fn panicked() -> ErrorData {
    tracing::error!("a resource, a prompt or a completion panicked");
    ErrorData::internal_error("The server failed.", None)
}

/// Returns the answer to a request whose function of the host takes too long.
pub(super) fn timed_out() -> ErrorData {
    ErrorData::internal_error("The server did not answer in time.", None)
}

/// Returns the answer to a prompt without an argument that it needs.
pub(super) fn missing_argument(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("The argument `{name}` is missing."), None)
}

/// Returns the answer to an argument of a prompt that is no text.
pub(super) fn not_a_text(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("The argument `{name}` must be a text."), None)
}

/// Returns the answer to a form that the user did not fill in.
pub(super) fn declined() -> ErrorData {
    ErrorData::invalid_params("The user declined to answer.", None)
}

/// Returns the answer to the failure of a function of the host. Its reason is only for the log.
pub(super) fn of_host(error: &ToolError) -> ErrorData {
    tracing::warn!(?error, "a resource, a prompt or a completion failed");
    ErrorData::internal_error(error.text().to_owned(), None)
}

/// Returns the answer to a state that does not belong to the request.
pub(super) fn foreign_state() -> ErrorData {
    ErrorData::invalid_params("The requestState does not belong to this call.", None)
}

/// Returns the answer to a state whose questions are not all answered.
pub(super) fn unanswered() -> ErrorData {
    ErrorData::invalid_params("An answer is missing in inputResponses.", None)
}

/// Returns the answer to a request that the assistant refuses.
pub(super) fn of_run(error: &Error) -> ErrorData {
    let retry_after_ms = error.retry_after().and_then(|delay| u64::try_from(delay.as_millis()).ok());
    let data = Some(json!({ "code": error.code().as_str(), "retryAfterMs": retry_after_ms }));
    let text = error.to_string();
    if error.is_internal() {
        ErrorData::internal_error(text, data)
    } else if error.is_throttled() || error.is_unavailable() || error.is_conflict() {
        ErrorData::new(NOT_NOW, text, data)
    } else {
        ErrorData::invalid_params(text, data)
    }
}
