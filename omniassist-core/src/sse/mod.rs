//! A reader of server-sent events, without I/O.
//!
//! [`SseDecoder`] reads the stream of a model provider, in any pieces that the network delivers. It follows the
//! [WHATWG rules] for event streams, bounds what it buffers, and does not allocate for a plain event. The dialects write
//! their events themselves.
//!
//! [WHATWG rules]: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
//!
//! ```
//! use bytes::Bytes;
//! use omniassist_core::sse::SseDecoder;
//!
//! let wire = b"id: 7\ndata: {\"delta\":\"Hi\"}\n\ndata: [DONE]\n\n";
//! let mut decoder = SseDecoder::new(8 << 20);
//! let mut seen = Vec::new();
//! for byte in wire {
//!     decoder.feed(Bytes::copy_from_slice(&[*byte]));
//!     while let Some(event) = decoder.next_event()? {
//!         seen.push(event.data);
//!     }
//! }
//! assert_eq!(seen, [r#"{"delta":"Hi"}"#, "[DONE]"]);
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod decode;
mod event;
mod field;

pub use decode::SseDecoder;
pub use event::SseEvent;

/// A comment, which readers ignore. It keeps an idle connection open.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";
