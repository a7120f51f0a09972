//! Google's Gemini models, over the Gemini API's own protocol.
//!
//! Protocol: <https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent>. What the model thought
//! comes signed (`thoughtSignature`) and goes back signed, byte for byte, so that it keeps its thread across tool calls.
//!
//! ```
//! use omniassist_server::GeminiProvider;
//! use omniassist_server::core::{LlmPayload, TranscriptItem};
//!
//! let provider = GeminiProvider::new("AIza…")?;
//! let payload = LlmPayload::new([TranscriptItem::user("Hello")]);
//! let body = provider.request_body(&payload)?;
//! assert_eq!(&body[..], br#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}"#);
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod calls;
mod contents;
mod decode;
mod encode;
mod metadata;
mod model;
mod partial;
mod schema;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use omniassist_core::{EventBuf, Limits, LlmEvent, LlmPayload, Text};
use uuid::Uuid;

use super::settings::{Api, Endpoint, KeyHeader, Settings, common_setters};
use super::wire::SseWire;
use crate::Result;
use crate::provider::{LlmProvider, LlmStream, WireDecoder};

/// The model that [`GeminiProvider`] asks unless told otherwise: the alias of the current Flash model, since Google
/// shuts its models down within a year or two. Name a model of its own where answers must not change.
pub const DEFAULT_GEMINI_MODEL: &str = "gemini-flash-latest";

/// While it thinks, Gemini may send nothing for minutes, not even headers.
const FIRST_BYTE: Duration = Duration::from_secs(300);

/// The Gemini API, and how it is set up from the environment.
static GEMINI: Api = Api {
    base_url: "https://generativelanguage.googleapis.com",
    base_url_variable: "GEMINI_BASE_URL",
    key_variable: "GEMINI_API_KEY",
    key_header: KeyHeader::Named("x-goog-api-key"),
};

/// Gemini by its own API (`streamGenerateContent`).
///
/// ```
/// use omniassist_server::GeminiProvider;
///
/// let provider =
///     GeminiProvider::builder().api_key("AIza…").model("gemini-2.5-flash").include_thoughts(true).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
pub struct GeminiProvider {
    endpoint: Endpoint,
    options: encode::Options,
    limits: Arc<Limits>,
}

impl GeminiProvider {
    /// The Gemini API with this key and the [default model](DEFAULT_GEMINI_MODEL).
    ///
    /// # Errors
    ///
    /// When the key is empty or cannot stand in a header.
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// A provider set up by `GEMINI_API_KEY` (or else `GOOGLE_API_KEY`), `GEMINI_BASE_URL` (the host only:
    /// `/v1beta/models/…` is appended) and `OMNIASSIST_MODEL`. Those that are unset or empty keep their defaults; a
    /// loopback base URL needs no key.
    ///
    /// # Errors
    ///
    /// When the key is missing, or a value is not usable.
    pub fn from_env() -> Result<Self> {
        let settings = Settings::from_vars(&GEMINI, with_fallback(|name| std::env::var(name).ok()));
        GeminiProviderBuilder { settings, ..Self::builder() }.build()
    }

    /// Sets up a provider step by step.
    pub fn builder() -> GeminiProviderBuilder {
        GeminiProviderBuilder { settings: Settings::new(&GEMINI), include_thoughts: false }
    }

    /// The body of the request that [`stream`](LlmProvider::stream) would send: for tests and for finding faults. The
    /// same payload gives the same bytes.
    ///
    /// # Errors
    ///
    /// When the payload has no JSON form.
    pub fn request_body(&self, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(payload, &self.options)
    }
}

impl LlmProvider for GeminiProvider {
    fn name(&self) -> &str {
        "gemini"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.options.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let path = model::stream_path(payload.model.as_ref().unwrap_or(&self.options.model));
        match path.and_then(|path| Ok((path, self.request_body(&payload)?))) {
            Ok((path, body)) => {
                let limits = Arc::clone(&self.limits);
                self.endpoint.send_below(&path, body, move || {
                    let mint = Uuid::now_v7().simple().to_string();
                    Box::new(GeminiDecoder::new(&limits, mint))
                })
            }
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl fmt::Debug for GeminiProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeminiProvider")
            .field("endpoint", &self.endpoint)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Reads variables, with `GOOGLE_API_KEY` in place of a `GEMINI_API_KEY` that is unset or empty.
fn with_fallback(read: impl Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name| match read(name).filter(|value| !value.trim().is_empty()) {
        None if name == GEMINI.key_variable => read("GOOGLE_API_KEY"),
        value => value,
    }
}

/// Sets up a [`GeminiProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct GeminiProviderBuilder {
    settings: Settings,
    include_thoughts: bool,
}

impl GeminiProviderBuilder {
    common_setters! {
        key: "the header `x-goog-api-key`, never in the URL",
        base_url: "The host only: `/v1beta/models/…` is appended. Default: \
                   `https://generativelanguage.googleapis.com`.",
    }

    /// Whether the model's thoughts are asked for, as summaries that come as reasoning. Default: no. Models that do not
    /// think (2.0 and before) are not asked.
    pub fn include_thoughts(mut self, include: bool) -> Self {
        self.include_thoughts = include;
        self
    }

    /// Checks the settings. Where [`Limits::first_byte_timeout`](omniassist_core::Limits) is `None`, 300 s hold: while
    /// it thinks, Gemini may send nothing for minutes.
    ///
    /// # Errors
    ///
    /// When the base URL, the key, a header or the model's name is not usable, or there is no key for a server that is
    /// not on loopback.
    pub fn build(self) -> Result<GeminiProvider> {
        let mut settings = self.settings;
        settings.limits.first_byte_timeout.get_or_insert(FIRST_BYTE);
        let model = settings.model.clone().unwrap_or(Text::from_static(DEFAULT_GEMINI_MODEL));
        model::stream_path(&model)?;
        Ok(GeminiProvider {
            endpoint: settings.bind("/v1beta")?,
            options: encode::Options { model, include_thoughts: self.include_thoughts },
            limits: Arc::new(settings.limits),
        })
    }
}

/// Reads the event stream of `streamGenerateContent`. For those who bring the bytes themselves: a gateway, a test, a
/// benchmark.
///
/// Of several candidates only the first is read. The protocol has no last event: the answer ends with the body, and
/// the finish is told by [`finish`](WireDecoder::finish).
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::gemini::GeminiDecoder;
///
/// let mut decoder = GeminiDecoder::new(&Limits::default(), "a1");
/// let mut events = EventBuf::new();
/// let chunk = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}]}\n\n";
/// decoder.feed(Bytes::from(chunk), &mut events)?;
/// assert!(matches!(events.pop(), Some(LlmEvent::Start { .. })));
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// assert!(events.is_empty());
/// decoder.finish(&mut events)?;
/// assert!(matches!(events.drain().last(), Some(LlmEvent::Finish { .. })));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug)]
pub struct GeminiDecoder {
    wire: SseWire<decode::Reader>,
}

impl GeminiDecoder {
    /// A decoder for one answer. `mint` goes into the ids of calls that the API gives none: it must differ from answer
    /// to answer, because call ids are unique within a conversation.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>) -> Self {
        Self { wire: SseWire::new(decode::Reader::new(limits, mint.into()), limits) }
    }
}

impl WireDecoder for GeminiDecoder {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.feed(chunk, events)
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.finish(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_may_take_five_minutes() {
        let provider = GeminiProvider::new("k").unwrap();
        assert_eq!(provider.limits.first_byte_timeout, Some(Duration::from_secs(300)));
        let mut limits = Limits::default();
        limits.first_byte_timeout = Some(Duration::from_secs(7));
        let provider = GeminiProvider::builder().api_key("k").limits(limits).build().unwrap();
        assert_eq!(provider.limits.first_byte_timeout, Some(Duration::from_secs(7)));
    }

    #[test]
    fn googles_own_variable_stands_in() {
        let read = |own: Option<&'static str>| {
            let read = with_fallback(move |name| match name {
                "GEMINI_API_KEY" => own.map(str::to_owned),
                "GOOGLE_API_KEY" => Some("google".to_owned()),
                _ => None,
            });
            read("GEMINI_API_KEY")
        };
        assert_eq!(read(Some("own")).as_deref(), Some("own"));
        assert_eq!(read(Some(" ")).as_deref(), Some("google"));
        assert_eq!(read(None).as_deref(), Some("google"));
    }
}
