use omniassist_core::JsonText;
use omniassist_core::transcript::ToolCall;
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::names;

/// The span of a tool call. It stays open until the task of the call has ended, even if the run ends first.
#[derive(Debug, Clone)]
pub(crate) struct ToolTrace {
    span: Span,
    records_content: bool,
}

impl ToolTrace {
    /// Returns a trace without a span. The call belongs to the current span.
    pub(crate) fn none() -> Self {
        Self { span: Span::none(), records_content: false }
    }

    pub(super) fn begin(step: &Span, call: &ToolCall, records_content: bool) -> Self {
        let span = info_span!(
            parent: step,
            "execute_tool",
            { names::SPAN_NAME } = Empty,
            { names::SPAN_STATUS } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::OPERATION_NAME } = "execute_tool",
            { names::TOOL_NAME } = call.name.as_str(),
            { names::TOOL_TYPE } = "function",
            { names::TOOL_CALL_ID } = call.id.as_str(),
            { names::TOOL_ARGUMENTS } = Empty,
            { names::TOOL_RESULT } = Empty,
        );
        let records_content = records_content && !span.is_disabled();
        if !span.is_disabled() {
            span.record(names::SPAN_NAME, format!("execute_tool {}", call.name));
        }
        if records_content {
            span.record(names::TOOL_ARGUMENTS, call.arguments.as_str());
        }
        Self { span, records_content }
    }

    /// Returns the span in which the task of the call runs.
    pub(crate) fn span(&self) -> Span {
        if self.span.is_disabled() { Span::current() } else { self.span.clone() }
    }

    /// Records the end of the call: its output, or the kind of its error.
    pub(crate) fn ended(&self, end: Result<JsonText, &'static str>) {
        match end {
            Ok(output) if self.records_content => {
                self.span.record(names::TOOL_RESULT, output.as_str());
            }
            Ok(_) => {}
            Err(error_type) => {
                self.span.record(names::ERROR_TYPE, error_type);
                self.span.record(names::SPAN_STATUS, "ERROR");
            }
        }
    }
}
