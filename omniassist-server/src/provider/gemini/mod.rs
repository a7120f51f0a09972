//! Google's Gemini models, over the Gemini API's own protocol.
//!
//! Protocol: <https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent>. The model's thoughts
//! are signed (`thoughtSignature`) and sent back with their signatures, byte for byte, so that the model can continue
//! them across tool calls.
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
mod circles;
mod contents;
mod decode;
mod encode;
mod metadata;
mod model;
mod partial;
mod schema;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_core::{Limits, LlmPayload, Text, TranscriptItem};
use uuid::Uuid;

use super::api::{Api, ApiProvider, ApiProviderBuilder};
use super::files_api::{FilesApi, Form};
use super::settings::{Endpoint, KeyHeader, Location, Settings};
use super::{ApiDecoder, WireDecoder};
use crate::{Error, Result};

/// The default model of [`GeminiProvider`]: the alias of the current Flash model, since Google shuts its models down
/// within a year or two. Set a dated model if answers must not change.
pub const DEFAULT_GEMINI_MODEL: &str = "gemini-flash-latest";

/// Gemini may send nothing for minutes while it thinks, not even headers.
const FIRST_BYTE: Duration = Duration::from_secs(300);

static GEMINI: Location = Location {
    name: "gemini",
    model: Some(DEFAULT_GEMINI_MODEL),
    base_url: "https://generativelanguage.googleapis.com",
    base_url_variable: "GEMINI_BASE_URL",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    key_header: KeyHeader::Named("x-goog-api-key"),
};

/// Gemini over its own API (`streamGenerateContent`).
///
/// ```
/// use omniassist_server::GeminiProvider;
///
/// let provider =
///     GeminiProvider::builder().api_key("AIza…").model("gemini-2.5-flash").include_thoughts(true).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
///
/// A base URL contains the host only; `/v1beta/models/…` is appended. The key is sent in `x-goog-api-key`. If
/// [`Limits::first_byte_timeout`] is `None`, it is 300 s, since Gemini may send nothing for minutes while it thinks.
pub type GeminiProvider = ApiProvider<encode::GeminiApi>;

/// Configures a [`GeminiProvider`].
pub type GeminiProviderBuilder = ApiProviderBuilder<encode::GeminiApi>;

impl GeminiProviderBuilder {
    /// Requests the model's thoughts, as summaries that become reasoning. Default: `false`. The request to models
    /// without thoughts (2.0 and before) does not change.
    pub fn include_thoughts(mut self, include: bool) -> Self {
        self.api.include_thoughts = include;
        self
    }
}

impl Api for encode::GeminiApi {
    const LOCATION: &'static Location = &GEMINI;

    const FILES: &'static FilesApi = &FilesApi {
        path: "/upload/v1beta/files",
        form: Form::Related,
        // Google deletes files after 48 hours.
        lifetime: Some(Duration::from_secs(47 * 60 * 60)),
        id: "/file/uri",
        media_types: &[
            "image/png",
            "image/jpeg",
            "image/webp",
            "application/pdf",
            "audio/wav",
            "audio/mpeg",
            "audio/aac",
            "audio/ogg",
            "audio/flac",
        ],
    };

    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint> {
        settings.limits.first_byte_timeout.get_or_insert(FIRST_BYTE);
        self.path(settings.model.as_deref().unwrap_or(DEFAULT_GEMINI_MODEL))?;
        settings.bind("/v1beta")
    }

    fn path(&self, model: &str) -> Result<String> {
        model::stream_path(model)
    }

    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(self, model, payload)
    }

    fn without_refused(&self, error: &Error, transcript: &[TranscriptItem]) -> Option<Arc<[TranscriptItem]>> {
        let detail = error.detail()?.to_ascii_lowercase();
        let refusals =
            ["corrupted thought signature", "invalid thought signature", "thought signature is not valid"];
        let is_refusal = refusals.iter().any(|refusal| detail.contains(refusal));
        is_refusal.then(|| metadata::STATE.without(&[metadata::THOUGHT_SIGNATURE], transcript)).flatten()
    }

    fn decoder(&self, _: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder> {
        Box::new(GeminiDecoder::new(limits, Uuid::now_v7().simple().to_string()))
    }
}

/// Decodes the event stream of `streamGenerateContent`, for programs that have the bytes: a gateway, a test, a
/// benchmark.
///
/// Only the first of several candidates is decoded. The protocol has no last event: the answer ends with the body, and
/// [`finish`](WireDecoder::finish) produces the finish event.
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
pub type GeminiDecoder = ApiDecoder<decode::Reader>;

impl GeminiDecoder {
    /// Creates a decoder for one answer. `mint` becomes part of the ids of calls that have none. It must be different
    /// for each answer, because call ids are unique within a conversation.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>) -> Self {
        Self::of(decode::Reader::new(limits, mint.into()), limits)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_google_key_is_used_without_a_gemini_key() {
        let read = |own: Option<&'static str>| {
            let settings = Settings::from_vars(&GEMINI, move |name| match name {
                "GEMINI_API_KEY" => own.map(str::to_owned),
                "GOOGLE_API_KEY" => Some("google".to_owned()),
                _ => None,
            });
            settings.api_key.map(|key| key.expose_secret().to_owned())
        };
        assert_eq!(read(Some("own")).as_deref(), Some("own"));
        assert_eq!(read(Some(" ")).as_deref(), Some("google"));
        assert_eq!(read(None).as_deref(), Some("google"));
    }
}
