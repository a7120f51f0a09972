//! Models behind one trait: [`LlmProvider`] turns an [`LlmPayload`] into a stream of
//! [`LlmEvent`]s.
//!
//! A provider consists of a request encoder, a transport and a decoder without I/O ([`WireDecoder`]). [`Fallback`]
//! combines several providers into one, and a [`Layer`] logs, caches or changes requests and answers. To add another
//! model, wrap a closure with [`from_fn`]:
//!
//! ```
//! use omniassist_server::core::{FinishReason, LlmEvent};
//! use omniassist_server::provider::{self, LlmProvider};
//!
//! let parrot = provider::from_fn("parrot", |_payload| {
//!     futures_util::stream::iter([
//!         Ok(LlmEvent::TextDelta { block: 0, delta: "Polly!".into() }),
//!         Ok(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }),
//!     ])
//! });
//! assert_eq!(parrot.name(), "parrot");
//! ```
//!
//! or implement [`LlmProvider`]. This one runs a model in the process. Its engine blocks, so it runs on a thread for
//! blocking work. A short channel connects it with the stream, so that a slow reader slows the engine down. Comments
//! mark the rules of the trait.
//!
//! ```
//! use futures_util::{Stream, StreamExt, future, stream};
//! use omniassist_server::core::transcript::UserContent;
//! use omniassist_server::core::{FinishReason, LlmEvent, LlmPayload, TranscriptItem};
//! use omniassist_server::{Error, LlmProvider, LlmStream, ProviderErrorKind, Result};
//! use tokio::sync::mpsc;
//!
//! /// Stands for a local inference engine. It passes each piece of text to the callback until that returns `false`.
//! fn generate(prompt: &str, mut on_piece: impl FnMut(&str) -> bool) -> std::io::Result<()> {
//!     prompt.split_inclusive(' ').all(|word| on_piece(word));
//!     Ok(())
//! }
//!
//! struct LocalProvider {
//!     model: String,
//! }
//!
//! impl LlmProvider for LocalProvider {
//!     fn name(&self) -> &str {
//!         "local"
//!     }
//!
//!     fn model(&self) -> Option<&str> {
//!         Some(&self.model)
//!     }
//!
//!     fn stream(&self, payload: LlmPayload) -> LlmStream {
//!         // The run may name a model; otherwise the provider's default model answers.
//!         let model = payload.model.clone().unwrap_or(self.model.as_str().into());
//!         let start = stream::iter([Ok(LlmEvent::Start { id: None, model: Some(model) })]);
//!         // Work must not start before the stream is polled: `answer` is called lazily.
//!         let answer = stream::once(async move { answer(payload) }).flatten();
//!         Box::pin(start.chain(answer))
//!     }
//! }
//!
//! fn answer(payload: LlmPayload) -> impl Stream<Item = Result<LlmEvent>> {
//!     let (sender, receiver) = mpsc::channel(8);
//!     tokio::task::spawn_blocking(move || {
//!         let said = generate(&prompt(&payload), |piece| {
//!             // Dropping the stream drops the receiver: sending fails, and the engine stops.
//!             sender.blocking_send(Ok(LlmEvent::TextDelta { block: 0, delta: piece.into() })).is_ok()
//!         });
//!         let last = match said {
//!             // A complete stream has exactly one `Finish`, which only token counts may follow.
//!             Ok(()) => Ok(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }),
//!             // A failure is the last item. Its kind determines the error that clients receive.
//!             Err(error) => Err(Error::provider(ProviderErrorKind::Unavailable).with_source(error)),
//!         };
//!         let _ = sender.blocking_send(last);
//!     });
//!     stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) })
//! }
//!
//! /// Returns the engine's input. For a model that calls tools it also describes `payload.tools`, and the calls become
//! /// `ToolCallStart`, `ToolCallDelta` and, after a complete call, `ToolCallEnd`.
//! fn prompt(payload: &LlmPayload) -> String {
//!     let said = |part: &UserContent| match part {
//!         UserContent::Text { text } => text.to_string(),
//!         _ => String::new(),
//!     };
//!     let text = |item: &TranscriptItem| match item {
//!         TranscriptItem::User { content } => content.iter().map(said).collect(),
//!         TranscriptItem::Text { text, .. } => text.to_string(),
//!         _ => String::new(),
//!     };
//!     payload.transcript.iter().map(text).collect()
//! }
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let provider = LocalProvider { model: "echo-1".into() };
//! let stream = provider.stream(LlmPayload::new([TranscriptItem::user("one two")]));
//! let events: Vec<_> = stream.filter_map(|event| future::ready(event.ok())).collect().await;
//! assert_eq!(events.len(), 4);
//! assert_eq!(events[2], LlmEvent::TextDelta { block: 0, delta: "two".into() });
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

#![cfg_attr(
    not(all(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, reason = "each provider uses a part of what they share")
)]

#[cfg(feature = "__transport")]
mod answer;
#[cfg(feature = "__transport")]
mod answer_form;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "__transport")]
mod api;
#[cfg(feature = "__transport")]
mod body;
#[cfg(feature = "__transport")]
mod call_name;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod compaction;
#[cfg(feature = "__transport")]
mod data_url;
#[cfg(feature = "__transport")]
mod error_report;
mod fallback;
#[cfg(feature = "__transport")]
mod files_api;
#[cfg(feature = "gemini")]
pub mod gemini;
mod layer;
#[cfg(feature = "__transport")]
mod lenient_fields;
#[cfg(feature = "__transport")]
mod metadata;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "__transport")]
mod settings;
#[cfg(feature = "__transport")]
mod uploads;
#[cfg(feature = "__transport")]
mod wire;

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "anthropic")]
pub use anthropic::AnthropicProvider;
#[cfg(feature = "__transport")]
pub use api::{ApiProvider, ApiProviderBuilder};
#[cfg(feature = "__transport")]
pub use error_report::error_from_response;
pub use fallback::{Fallback, Switch};
use futures_core::Stream;
#[cfg(feature = "gemini")]
pub use gemini::GeminiProvider;
pub use layer::{Layer, Layered, layered};
use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::ToolResult;
use omniassist_core::{LlmEvent, LlmPayload};
#[cfg(feature = "openai")]
pub use openai::{OpenAiChatProvider, OpenAiProvider};

#[cfg(feature = "__transport")]
pub use wire::ApiDecoder;

pub use crate::decoder::{LlmStream, WireDecoder};
use crate::{Error, Result};

/// A model that answers with a stream of events.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model provider",
    note = "implement `LlmProvider`, or wrap a closure with `provider::from_fn(name, |payload| stream)`"
)]
pub trait LlmProvider: Send + Sync + 'static {
    /// Returns a short name for logs, such as `openai`.
    fn name(&self) -> &str;

    /// Returns the model that answers if the payload names none.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Calls the model. A failed connection is the stream's first item; an error is its last. A complete stream has
    /// exactly one [`LlmEvent::Finish`]. No work starts before the stream is polled.
    fn stream(&self, payload: LlmPayload) -> LlmStream;

    /// Returns `true` if a part with this metadata contains a compaction that the provider accepts: its own short form
    /// of the conversation before the part. A [`History`](crate::History) then begins with that part. Default: `false`.
    fn has_compacted(&self, _metadata: &ProviderMetadata) -> bool {
        false
    }

    /// Calls the model with the results of the last turn's tool calls. The payload must contain the calls; the results
    /// are appended.
    ///
    /// No provider keeps a turn open for results; they are further entries of the conversation. The run loop does not
    /// need this method. It is for hosts that call a model themselves.
    fn tool_submit(&self, payload: LlmPayload, results: Vec<ToolResult>) -> LlmStream {
        self.stream(payload.with_results(results))
    }
}

impl<P: LlmProvider + ?Sized> LlmProvider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn model(&self) -> Option<&str> {
        (**self).model()
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        (**self).stream(payload)
    }

    fn has_compacted(&self, metadata: &ProviderMetadata) -> bool {
        (**self).has_compacted(metadata)
    }

    fn tool_submit(&self, payload: LlmPayload, results: Vec<ToolResult>) -> LlmStream {
        (**self).tool_submit(payload, results)
    }
}

/// Creates a provider from a closure that returns a stream. See the [module's example](self).
pub fn from_fn<F, S>(name: impl Into<String>, stream: F) -> FromFn<F>
where
    F: Fn(LlmPayload) -> S + Send + Sync + 'static,
    S: Stream<Item = Result<LlmEvent, Error>> + Send + 'static,
{
    FromFn { name: name.into(), stream }
}

/// A provider from a closure; see [`from_fn`].
#[derive(Clone)]
pub struct FromFn<F> {
    name: String,
    stream: F,
}

impl<F, S> LlmProvider for FromFn<F>
where
    F: Fn(LlmPayload) -> S + Send + Sync + 'static,
    S: Stream<Item = Result<LlmEvent, Error>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        Box::pin((self.stream)(payload))
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").field("name", &self.name).finish_non_exhaustive()
    }
}
