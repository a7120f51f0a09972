//! A reader of server-sent events, without I/O.
//!
//! [`SseDecoder`] reads the stream of a model provider, in any pieces that the network delivers. It follows the [WHATWG
//! rules] for event streams, bounds what it buffers, and does not allocate for a plain event. The dialects write their
//! events themselves.
//!
//! [WHATWG rules]: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

mod decode;
mod event;
mod field;

pub use decode::SseDecoder;
pub use event::SseEvent;

/// A comment, which readers ignore. It keeps an idle connection open.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";
