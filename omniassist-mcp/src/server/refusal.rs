//! Errors of the protocol. What a model can act on is the result of its call instead.

use omniassist_server::core::Error;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

/// The code of a request that the server cannot serve now.
const NOT_NOW: ErrorCode = ErrorCode(-32000);

/// Returns the answer to a name of no tool, also if there is one that the caller does not see.
pub(super) fn unknown_tool() -> ErrorData {
    ErrorData::invalid_params("There is no tool of this name.", None)
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
