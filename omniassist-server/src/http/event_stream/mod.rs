//! Responses that stream the events of a run.

mod background;
mod first_event;
mod response;

pub(super) use first_event::{Failure, NoAnswer, failure_code, is_tool_result};
pub(super) use response::{events, stream, stream_opened, stream_text};
