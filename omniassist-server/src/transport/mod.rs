//! The transport of provider requests: one pooled client for each runtime, deadlines, repeats before the first byte,
//! and caps.
//!
//! ```text
//! Transport::stream → Answer (a pull `Stream`): connect → read bytes → WireDecoder → LlmEvents
//! ```
//!
//! The connection of an answer that outlives it ([`Lasting`]) may be lost at any time: the next one continues the same
//! events.
//!
//! A token passes through no task and no channel. A poll of the stream polls the body, so a slow reader slows the
//! provider down. Dropping the stream drops the body, and hyper then closes the connection.

mod answer;
mod failure;
mod lasting;
mod loopback;
mod redact;
mod request;
mod response;
mod retry;
mod retry_after;
mod sender;
mod shared;

pub(crate) use lasting::Lasting;
pub(crate) use loopback::is_loopback;
pub(crate) use request::ProviderRequest;
pub(crate) use sender::Transport;
