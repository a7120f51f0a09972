//! Server side of OpenAI's Chat Completions API: the assistant appears as a model to any OpenAI client.
//!
//! [`read_request`] parses a client's request. [`Encoder`] streams the answer as `chat.completion.chunk`s, and
//! [`Completion`] collects it into one `chat.completion`. The caller's `tools` are front-end tools: their calls are
//! returned to the caller, and their results come back as `tool` messages. Calls of the server's tools are not part of
//! the answer.
//!
//! The API has no field for what the server did between two requests. If a run calls server tools and then a tool of
//! the caller, the next request contains only the caller's call. The API also has no field for proofs of what the
//! server wrote. Posted outputs of the caller's tools are accepted; posted outputs of server tools are ignored.
//!
//! ```
//! use bytes::{Bytes, BytesMut};
//! use omniassist_core::dialect::DialectEncoder;
//! use omniassist_core::dialect::chat_completions::{self, AnswerHead, Encoder};
//! use omniassist_core::event::{BlockId, FinishReason, Usage};
//! use omniassist_core::{Limits, RunEvent};
//!
//! let body = Bytes::from_static(br#"{
//!     "model": "omniassist", "stream": true,
//!     "messages": [{"role": "user", "content": "Hi"}]
//! }"#);
//! let request = chat_completions::read_request(body, &Limits::default())?;
//! assert_eq!(request.run.messages[0].text(), "Hi");
//!
//! let head = AnswerHead::new("chatcmpl-1", 1_700_000_000, request.model);
//! let mut encoder = Encoder::new(&head, []);
//! let mut out = BytesMut::new();
//! encoder.encode(&RunEvent::TextDelta { id: BlockId(0), delta: "Hello".into() }, &mut out);
//! encoder.encode(&RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() }, &mut out);
//! encoder.finish(&mut out);
//! let text = String::from_utf8_lossy(&out);
//! assert!(text.contains(r#""delta":{"content":"Hello"}"#), "{text}");
//! assert!(text.ends_with("data: [DONE]\n\n"));
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod answer;
mod calls;
mod choice;
mod completion;
mod content;
mod conversation;
mod encode;
mod error;
mod head;
mod request;
mod response_format;
mod settings;
mod usage;

pub use completion::Completion;
pub use encode::{Encoder, HEADERS};
pub use error::{ErrorObject, error_body};
pub use head::AnswerHead;
pub use request::{ChatRequest, read_request};
pub use settings::ClientSettings;
