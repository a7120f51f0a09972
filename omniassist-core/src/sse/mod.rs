//! Server-sent events, in both directions and without I/O.
//!
//! [`SseDecoder`] reads what a model provider sends, in whatever pieces the network delivers it; [`encode`] writes
//! what a chat client reads. Both keep the [WHATWG rules] for event streams. Use these rather than the types of a web
//! framework or HTTP client where the bytes must be the same under every framework, and where an event per token
//! must not cost an allocation.
//!
//! [WHATWG rules]: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
//!
//! ```
//! use bytes::{Bytes, BytesMut};
//! use omniassist_core::sse::{self, SseDecoder};
//!
//! let mut wire = BytesMut::new();
//! sse::encode::event(&mut wire, Some(7), br#"{"delta":"Hi"}"#);
//! sse::encode::done(&mut wire);
//!
//! let mut decoder = SseDecoder::new(8 << 20);
//! let mut seen = Vec::new();
//! for byte in wire {
//!     decoder.feed(Bytes::from(vec![byte]));
//!     while let Some(event) = decoder.next_event()? {
//!         seen.push(event.data);
//!     }
//! }
//! assert_eq!(seen, [r#"{"delta":"Hi"}"#, "[DONE]"]);
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod decode;
pub mod encode;
mod event;
mod field;

pub use decode::SseDecoder;
pub use event::SseEvent;
