//! Requests: their bodies, headers and query parameters, received and checked before a run begins.

mod drain_body;
pub(super) mod file_check;
#[cfg(feature = "files")]
pub(super) mod multipart;
pub(super) mod post_headers;
mod protocol;
pub(super) mod receive;

pub(super) use drain_body::DrainBody;
pub(super) use post_headers::{RESPOND_ASYNC, RespondAsync};
pub(super) use protocol::{Protocol, decoded, query_value};
