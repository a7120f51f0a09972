//! Wire formats of chat clients, as pure functions.
//!
//! A dialect parses a request's bytes into a [`RunRequest`](crate::RunRequest) and serialises
//! [`RunEvent`](crate::RunEvent)s. It uses no socket and no clock; the server transports the bytes. [`ai_sdk`] is the
//! format of `useChat` and of this project's own clients. [`text`] is the AI SDK's plain text stream. [`ag_ui`] is the
//! format of AG-UI clients and CopilotKit, and [`chat_completions`] is that of OpenAI clients.
//!
//! ```
//! use bytes::BytesMut;
//! use omniassist_core::RunEvent;
//! use omniassist_core::dialect::DialectEncoder;
//! use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
//!
//! let mut encoder = Encoder::new(Framing::Ndjson);
//! let mut out = BytesMut::new();
//! encoder.encode(&RunEvent::StepStart, &mut out);
//! assert_eq!(out, "{\"type\":\"start-step\"}\n");
//! ```
//!
//! # Errors of readers
//!
//! A request shares its body's buffer and keeps it alive. The readers include the checks of
//! [`json_guard::check`](crate::json_guard::check), so a body needs no separate check. They return an error if:
//!
//! - the body is not UTF-8 or not JSON, or an object contains a key twice;
//! - values are nested deeper than [`Limits::max_json_depth`](crate::Limits::max_json_depth), or another limit is
//!   exceeded;
//! - a value has the wrong type, in which case the error contains its path.

pub mod ag_ui;
pub mod ai_sdk;
pub mod chat_completions;
mod cursor;
mod declared_tools;
mod encode;
mod json_write;
mod numbered;
mod of_agent;
mod posted;
pub mod text;
mod text_flow;

pub use cursor::{Cursor, InvalidCursor};
pub use encode::DialectEncoder;
pub use numbered::Numbered;
