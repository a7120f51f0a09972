//! Doubles for the model, for tests of tools, prompts and whole backends: no network, no key, no chance.
//!
//! - [`ScriptedProvider`] is an [`LlmProvider`](crate::provider::LlmProvider) that plays turns you wrote and keeps
//!   what it was asked. Use it to test tools, prompts and everything that stands on a run.
//! - [`FakeProvider`] is a provider's HTTP server on a real loopback socket. It can be slow, cut its answers, reset
//!   connections and send nonsense. Use it to test what happens between a backend and its provider.
//! - A [`Cassette`] holds what a real provider streamed, recorded by a [`Recorder`], and plays it to
//!   the real decoder. Use it to test with what models really say; see [`cassette`].
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
//! The feature `testing` is on by default; a release build that leaves it out loses nothing else.

mod bodies;
pub mod cassette;
mod connection;
mod fake_server;
mod log;
mod reply;
mod request;
mod scripted;
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
