//! The wire formats that chat clients speak, as pure functions.
//!
//! A dialect reads a request's bytes into a [`RunRequest`](crate::RunRequest) and writes
//! [`RunEvent`](crate::RunEvent)s as bytes. It opens no socket and keeps no clock; what carries the bytes is up to the
//! server. [`ai_sdk`] is the format of `useChat` and of this project's own clients, [`text`] its plain text stream;
//! [`ag_ui`] is that of AG-UI's clients and of CopilotKit, [`chat_completions`] that of OpenAI's.
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

pub mod ag_ui;
pub mod ai_sdk;
pub mod chat_completions;
mod declared_tools;
mod encode;
mod json_write;
mod posted;
pub mod text;
mod text_flow;

pub use encode::DialectEncoder;
