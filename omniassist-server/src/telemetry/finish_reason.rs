use omniassist_core::event::FinishReason;

/// Returns the conventions' name of a finish reason, as a JSON list.
pub(super) fn finish_reasons(reason: &FinishReason) -> String {
    serde_json::json!([finish_reason(reason)]).to_string()
}

/// Returns the conventions' name of a finish reason.
pub(super) fn finish_reason(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Length => "length",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        FinishReason::Pause => "pause",
        FinishReason::Other(word) => word,
        // Includes reasons of later versions.
        _ => "error",
    }
}
