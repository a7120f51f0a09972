//! The AI SDK's UI message stream (`useChat`), versions 5, 6 and 7.
//!
//! [`read_request`] parses what `DefaultChatTransport` and simpler clients post. [`read_prompt`] parses what
//! `useCompletion` posts. [`Encoder`] writes the answer as server-sent events, or as one JSON object per line for
//! clients without an SSE parser. A request does not state the version of its client, so the encoder writes what all
//! three versions accept. For backends whose agents run in another runtime, see [`bridge`](crate::bridge).
//!
//! ```
//! use bytes::{Bytes, BytesMut};
//! use omniassist_core::dialect::DialectEncoder;
//! use omniassist_core::dialect::ai_sdk::{self, Encoder, Framing};
//! use omniassist_core::event::BlockId;
//! use omniassist_core::{Limits, RunEvent};
//!
//! let body = Bytes::from_static(br#"{
//!     "id": "chat-1", "trigger": "submit-message",
//!     "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
//! }"#);
//! let request = ai_sdk::read_request(body, &Limits::default())?;
//! assert_eq!(request.messages[0].text(), "Hi");
//!
//! let mut encoder = Encoder::new(Framing::Sse);
//! let mut out = BytesMut::new();
//! encoder.encode(&RunEvent::TextDelta { id: BlockId(0), delta: "Hello".into() }, &mut out);
//! encoder.finish(&mut out);
//! assert_eq!(
//!     out,
//!     "id: 0\ndata: {\"type\":\"text-delta\",\"id\":\"t0\",\"delta\":\"Hello\"}\n\ndata: [DONE]\n\n"
//! );
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod chunk;
mod encode;
mod prototype;
mod request;
mod version;

pub use encode::{Encoder, Framing, HEADERS, NDJSON_HEADERS};
pub use request::{read_prompt, read_request};
pub use version::ClientVersion;
