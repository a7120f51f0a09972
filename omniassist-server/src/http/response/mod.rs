//! Responses: their bodies, their headers, and refusals.

mod batch;
mod body;
mod event_source;
#[cfg(feature = "files")]
mod file_body;
mod rejection;
pub(super) mod reply;
pub(super) mod run_headers;

pub(super) use body::EventBody;
pub use body::{AssistantBody, CutAnswer};
#[cfg(feature = "files")]
pub(super) use file_body::FileBody;
pub(super) use rejection::{ErrorFormat, Rejection};
pub(super) use run_headers::RunName;
