//! The transport of provider requests: one pooled client for each runtime, deadlines, repeats before the first byte,
//! and caps.
//!
//! ```text
//! Transport::stream → Answer (a pull `Stream`): connect → read bytes → WireDecoder → LlmEvents
//! ```
//!
//! No task and no channel is on the way of a token. A poll of the stream polls the body, so a slow reader holds the
//! provider back. Dropping the stream drops the body, on which hyper closes the connection.

mod answer;
mod clients;
mod failure;
mod loopback;
mod redact;
mod request;
mod response;
mod retry;
mod retry_after;
mod sender;
mod shared;
mod tls;

pub(crate) use loopback::is_loopback;
pub(crate) use request::ProviderRequest;
pub(crate) use sender::Transport;
