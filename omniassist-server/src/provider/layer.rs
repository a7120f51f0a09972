//! Layers around a provider.

use std::fmt;
use std::sync::Arc;

use futures_core::Stream;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{LlmEvent, LlmPayload};

use super::{LlmProvider, LlmStream};
use crate::Result;

/// A layer around a provider. It receives each request, decides if and how the provider is called, and receives the
/// answer.
///
/// A function or closure `Fn(LlmPayload, Arc<dyn LlmProvider>) -> impl Stream` is a layer.
/// [`AssistantBuilder::wrap_provider`](crate::AssistantBuilder::wrap_provider) puts one around the provider of an
/// assistant, and [`layered`] around any provider. The stream must follow the rules of [`LlmProvider::stream`]. It may
/// drop the provider's stream, which closes the connection.
///
/// Logging, with the time of the first event:
///
/// ```
/// use std::sync::Arc;
/// use std::time::Instant;
///
/// use futures_util::StreamExt;
/// use omniassist_server::core::LlmPayload;
/// use omniassist_server::provider::{LlmProvider, LlmStream};
///
/// fn logging(payload: LlmPayload, next: Arc<dyn LlmProvider>) -> LlmStream {
///     let (asked, mut first) = (Instant::now(), true);
///     Box::pin(next.stream(payload).inspect(move |_event| {
///         if std::mem::take(&mut first) {
///             println!("{} began after {:?}", next.name(), asked.elapsed());
///         }
///     }))
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).wrap_provider(logging).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
///
/// A cache of whole answers. Only a complete answer is kept:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use futures_util::{StreamExt, stream};
/// use omniassist_server::core::{LlmEvent, LlmPayload};
/// use omniassist_server::provider::{Layer, LlmProvider, LlmStream};
///
/// #[derive(Default)]
/// struct Cache(Arc<Mutex<HashMap<String, Vec<LlmEvent>>>>);
///
/// impl Layer for Cache {
///     fn stream(&self, payload: LlmPayload, next: Arc<dyn LlmProvider>) -> LlmStream {
///         let (key, cache) = (format!("{payload:?}"), Arc::clone(&self.0));
///         if let Some(events) = cache.lock().unwrap().get(&key).cloned() {
///             return Box::pin(stream::iter(events).map(Ok));
///         }
///         let mut events = Vec::new();
///         Box::pin(next.stream(payload).inspect(move |event| {
///             let Ok(event) = event else { return };
///             events.push(event.clone());
///             if let LlmEvent::Finish { .. } = event {
///                 cache.lock().unwrap().insert(key.clone(), std::mem::take(&mut events));
///             }
///         }))
///     }
/// }
/// # use omniassist_server::{Assistant, core::RunRequest, testing::{ScriptedProvider, Turn}};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let model = ScriptedProvider::new().turn(Turn::text("Hello."));
/// let assistant = Assistant::builder(model).wrap_provider(Cache::default()).build()?;
/// for _ in 0..2 {
///     assert_eq!(assistant.run(RunRequest::prompt("Hi")).text().await?, "Hello.");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Redaction of what the provider reads:
///
/// ```
/// use std::sync::Arc;
///
/// use omniassist_server::core::secret::Secrets;
/// use omniassist_server::core::transcript::{TranscriptItem, UserContent};
/// use omniassist_server::core::LlmPayload;
/// use omniassist_server::provider::{LlmProvider, LlmStream};
///
/// fn redact(mut payload: LlmPayload, next: Arc<dyn LlmProvider>) -> LlmStream {
///     let mut transcript = payload.transcript.to_vec();
///     for item in &mut transcript {
///         let TranscriptItem::User { content } = item else { continue };
///         for part in content {
///             if let UserContent::Text { text } = part {
///                 *text = Secrets::default().redact(text).into();
///             }
///         }
///     }
///     payload.transcript = transcript.into();
///     next.stream(payload)
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).wrap_provider(redact).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer around a provider",
    note = "a layer is a function `fn(LlmPayload, Arc<dyn LlmProvider>) -> LlmStream`, or implements `Layer`"
)]
pub trait Layer: Send + Sync + 'static {
    /// Answers a request, with or without the wrapped provider. Work must start only when the stream is polled.
    fn stream(&self, payload: LlmPayload, next: Arc<dyn LlmProvider>) -> LlmStream;
}

impl<F, S> Layer for F
where
    F: Fn(LlmPayload, Arc<dyn LlmProvider>) -> S + Send + Sync + 'static,
    S: Stream<Item = Result<LlmEvent>> + Send + 'static,
{
    fn stream(&self, payload: LlmPayload, next: Arc<dyn LlmProvider>) -> LlmStream {
        Box::pin(self(payload, next))
    }
}

/// Puts a layer around a provider. The result has the name and the model of the provider.
pub fn layered(provider: impl LlmProvider, layer: impl Layer) -> Layered {
    Layered { provider: Arc::new(provider), layer: Arc::new(layer) }
}

/// A provider with a layer around it; see [`layered`].
#[derive(Clone)]
pub struct Layered {
    provider: Arc<dyn LlmProvider>,
    layer: Arc<dyn Layer>,
}

impl Layered {
    pub(crate) fn of(provider: Arc<dyn LlmProvider>, layer: Arc<dyn Layer>) -> Self {
        Self { provider, layer }
    }
}

impl LlmProvider for Layered {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn model(&self) -> Option<&str> {
        self.provider.model()
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        self.layer.stream(payload, Arc::clone(&self.provider))
    }

    fn has_compacted(&self, metadata: &ProviderMetadata) -> bool {
        self.provider.has_compacted(metadata)
    }
}

impl fmt::Debug for Layered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}
