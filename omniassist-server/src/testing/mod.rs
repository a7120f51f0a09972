//! Test doubles for the model, for tests of tools, prompts and whole backends. They need no network, no API
//! key and no randomness.
//!
//! - [`ScriptedProvider`] is an [`LlmProvider`](crate::provider::LlmProvider) that plays turns from a script
//!   and records the requests. Use it to test tools, prompts and everything built on a run.
//! - [`FakeProvider`] is a provider's HTTP server on a real loopback socket. It can be slow, cut its answers, reset
//!   connections and send malformed bytes. Use it to test the connection between a backend and its provider.
//! - A [`Cassette`] holds what a real provider streamed, recorded by a [`Recorder`]. It replays the stream to
//!   the real decoder. Use it to test with real model output; see [`cassette`].
//! - The functions of [`store`] check an implementation of a store of runs or conversations.
//! - [`responses_sse`] and [`chat_sse`] write the bodies that OpenAI's two APIs stream.
//!
//! ```
//! use futures_util::StreamExt;
//! use omniassist_server::core::{LlmEvent, LlmPayload, TranscriptItem};
//! use omniassist_server::provider::LlmProvider;
//! use omniassist_server::testing::{ScriptedProvider, call, text};
//! use serde_json::json;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let model = ScriptedProvider::new()
//!     .turn([text("Let me look."), call("order_status", json!({"id": 7}))])
//!     .turn(text("It is on its way."));
//!
//! // An assistant does this for you.
//! let payload = LlmPayload::new([TranscriptItem::user("Where is my order?")]);
//! let events: Vec<_> = model.stream(payload).collect().await;
//!
//! assert!(events.iter().any(|event| matches!(event, Ok(LlmEvent::ToolCallEnd { .. }))));
//! assert_eq!(model.payloads().len(), 1);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The cargo feature `testing` enables this module. It is off by default; enable it for dev-dependencies.

mod background;
mod bodies;
pub mod cassette;
mod fake_server;
mod log;
mod reply;
mod request;
mod scripted;
mod socket;
pub mod store;
mod turn;

pub use bodies::{SseBody, chat_sse, responses_sse};
#[cfg(feature = "__transport")]
pub use cassette::Recorder;
pub use cassette::{Cassette, CassetteError, Player, Replay};
pub use fake_server::FakeProvider;
pub use log::{FakeEvent, FakeEventKind};
pub use reply::Reply;
pub use request::FakeRequest;
pub use scripted::ScriptedProvider;
pub use turn::{Turn, call, reasoning, text};
