//! The JSON objects of an answer, streamed or complete.

use serde::Serialize;

use crate::event::FinishReason;
use crate::{JsonText, RunEvent, Text};

/// The single choice: its `delta` in a stream, its `message` in a complete answer.
#[derive(Serialize)]
pub(super) struct Choice<'a> {
    index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Said<'a>>,
    logprobs: (),
    finish_reason: Option<&'static str>,
}

impl<'a> Choice<'a> {
    pub(super) fn delta(said: Said<'a>, finish_reason: Option<&'static str>) -> Self {
        Self { index: 0, delta: Some(said), message: None, logprobs: (), finish_reason }
    }

    pub(super) fn message(said: Said<'a>, finish_reason: &'static str) -> Self {
        let finish_reason = Some(finish_reason);
        Self { index: 0, delta: None, message: Some(said), logprobs: (), finish_reason }
    }
}

/// A message of the assistant, or a delta of one. In an `Option<Option<_>>`, the outer `None` omits the field and the
/// inner `None` writes null.
#[derive(Default, Serialize)]
pub(super) struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) tool_calls: &'a [CallObject<'a>],
}

impl Said<'_> {
    /// Returns the common content of the first delta and of a complete message.
    pub(super) fn assistant() -> Self {
        Self { role: Some("assistant"), ..Self::default() }
    }
}

/// A call of a caller's tool, or a delta of its arguments.
#[derive(Serialize)]
pub(super) struct CallObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    function: FunctionObject<'a>,
}

#[derive(Serialize)]
struct FunctionObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

impl<'a> CallObject<'a> {
    pub(super) fn new(id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        let function = FunctionObject { name: Some(name), arguments };
        Self { index: None, id: Some(id), kind: Some("function"), function }
    }

    pub(super) fn start(index: usize, id: &'a str, name: &'a str) -> Self {
        Self { index: Some(index), ..Self::new(id, name, "") }
    }

    pub(super) fn piece(index: usize, arguments: &'a str) -> Self {
        let function = FunctionObject { name: None, arguments };
        Self { index: Some(index), id: None, kind: None, function }
    }
}

/// A call of a server tool, with the fields that one event reports.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ServerTool {
    pub(super) id: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Text>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) preliminary: bool,
}

impl ServerTool {
    /// Returns the part of a call that an event reports, or `None` if it reports none.
    pub(super) fn of(event: &RunEvent) -> Option<Self> {
        let call = |id: &Text| Self { id: id.clone(), ..Self::default() };
        Some(match event {
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                Self { name: Some(name.clone()), input: Some(input.clone()), ..call(call_id) }
            }
            RunEvent::ToolInputError { call_id, name, error_text, .. } => {
                Self { name: Some(name.clone()), error: Some(error_text.clone()), ..call(call_id) }
            }
            RunEvent::ToolOutput { call_id, output, preliminary, .. } => {
                Self { output: Some(output.clone()), preliminary: *preliminary, ..call(call_id) }
            }
            RunEvent::ToolError { call_id, error_text: error, .. }
            | RunEvent::ToolRefused { call_id, reason: error } => {
                Self { error: Some(error.clone()), ..call(call_id) }
            }
            _ => return None,
        })
    }
}

/// Maps a finish reason to a value of this API. `calls` is `true` if the answer contains calls of the caller's tools.
pub(super) fn finish_reason(reason: &FinishReason, calls: bool) -> &'static str {
    match reason {
        FinishReason::Length => "length",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        _ if calls => "tool_calls",
        _ => "stop",
    }
}
