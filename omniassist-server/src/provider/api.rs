//! One provider type for every API. An [`Api`] adds its requests, its decoder and its own settings.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{Limits, LlmPayload, Text, TranscriptItem};
use reqwest::Url;
use secrecy::SecretString;

use super::files_api::FilesApi;
use super::settings::{Endpoint, Location, Settings};
use super::uploads::Uploads;
use super::{LlmProvider, LlmStream, WireDecoder};
use crate::{Error, Result};

/// One API: its specific settings, its request encoder and its decoder.
pub trait Api: fmt::Debug + Clone + Default + Send + Sync + 'static {
    /// The address of the API, and its defaults.
    const LOCATION: &'static Location;

    /// The API for files that requests name.
    const FILES: &'static FilesApi;

    /// Checks the settings and binds them to the API's path. May change the common settings.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is not usable.
    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint>;

    /// Returns the path of a request below the endpoint's own. Default: none.
    ///
    /// # Errors
    ///
    /// Returns an error if the model cannot be part of a path.
    fn path(&self, _model: &str) -> Result<String> {
        Ok(String::new())
    }

    /// Writes the body of a request to this model.
    ///
    /// # Errors
    ///
    /// Returns an error if the API has no form for the payload.
    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes>;

    /// Returns `true` if the state of a part contains a compaction that requests of this API contain. Default: `false`.
    fn has_compacted(&self, _state: &ProviderMetadata) -> bool {
        false
    }

    /// Returns the conversation without the state that the API refused with this error, because another account, server or
    /// model made it. Returns `None` for any other error. Default: `None`.
    fn without_refused(
        &self,
        _error: &Error,
        _transcript: &[TranscriptItem],
    ) -> Option<Arc<[TranscriptItem]>> {
        None
    }

    /// Returns the decoder of one answer to this payload, whose transcript has been removed.
    fn decoder(&self, payload: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder>;

    /// Sends a request. Default: the answer ends with its connection.
    fn send(self: Arc<Self>, endpoint: &Endpoint, asked: Asked) -> LlmStream {
        let Asked { url, body, payload, limits } = asked;
        endpoint.send(url, body, move || self.decoder(&payload, &limits))
    }
}

/// An encoded request of a provider.
pub struct Asked {
    pub(super) url: Url,
    pub(super) body: Bytes,
    /// The payload without its transcript, with the model that is asked.
    pub(super) payload: LlmPayload,
    pub(super) limits: Arc<Limits>,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("body", &self.body.len()).finish_non_exhaustive()
    }
}

/// A provider of one API. `AnthropicProvider`, `GeminiProvider`, `OpenAiProvider` and `OpenAiChatProvider` are aliases
/// of this type.
#[derive(Clone)]
pub struct ApiProvider<A> {
    name: &'static str,
    model: Text,
    endpoint: Endpoint,
    api: Arc<A>,
    limits: Arc<Limits>,
    uploads: Option<Arc<Uploads>>,
}

impl<A: Api> ApiProvider<A> {
    /// Creates a provider with this key, the API's public address and the API's default model.
    ///
    /// # Errors
    ///
    /// Returns an error if the key is empty or contains characters that a header cannot have.
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// Creates a provider from environment variables. The key and the base URL come from the API's own variables
    /// (`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`; `GEMINI_…`, with `GOOGLE_API_KEY` as another name of the key;
    /// `OPENAI_…`), the model from `OMNIASSIST_MODEL`. Unset and empty variables have their defaults. A loopback base
    /// URL needs no key.
    ///
    /// # Errors
    ///
    /// Returns an error if the key is missing, or a value is not valid.
    pub fn from_env() -> Result<Self> {
        ApiProviderBuilder::<A>::from_env(A::LOCATION).build()
    }

    /// Creates a builder with the defaults of the API.
    pub fn builder() -> ApiProviderBuilder<A> {
        ApiProviderBuilder { settings: Settings::new(A::LOCATION), api: A::default() }
    }

    /// Returns the body of the request that [`stream`](LlmProvider::stream) would send, for tests and diagnosis. Equal
    /// payloads give equal bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the API has no form for the payload.
    pub fn request_body(&self, payload: &LlmPayload) -> Result<Bytes> {
        self.api.encode(payload.model.as_ref().unwrap_or(&self.model), payload)
    }

    /// Asks the model about a conversation whose large files are uploaded first. A file that the provider no longer has is
    /// uploaded again, once. If that does not help, the request carries it.
    async fn ask_uploaded(self, uploads: Arc<Uploads>, payload: LlmPayload) -> LlmStream {
        let mut refusals = 0;
        loop {
            let (sent, named) = uploads.replace(&payload).await;
            let mut answer = self.ask(sent);
            match answer.next().await {
                Some(Err(error)) if refusals < 2 && uploads.forget(&error, &named, refusals > 0) => {
                    refusals += 1;
                }
                first => return Box::pin(stream::iter(first).chain(answer)),
            }
        }
    }

    /// Asks the model. If the API refuses state in the conversation, the model is asked again without it, once.
    fn ask(&self, payload: LlmPayload) -> LlmStream {
        let has_state = |item: &TranscriptItem| match item {
            TranscriptItem::Text { metadata, .. } | TranscriptItem::Reasoning { metadata, .. } => {
                metadata.is_some()
            }
            TranscriptItem::Call(call) => call.metadata.is_some(),
            _ => false,
        };
        if !payload.transcript.iter().any(has_state) {
            return self.ask_once(payload);
        }
        Box::pin(stream::once(self.clone().ask_twice(payload)).flatten())
    }

    async fn ask_twice(self, mut payload: LlmPayload) -> LlmStream {
        let mut answer = self.ask_once(payload.clone());
        let first = answer.next().await;
        if let Some(Err(error)) = &first
            && let Some(transcript) = self.api.without_refused(error, &payload.transcript)
        {
            tracing::info!(provider = self.name, "asking the model without the state that its API refused");
            payload.transcript = transcript;
            return self.ask_once(payload);
        }
        Box::pin(stream::iter(first).chain(answer))
    }

    fn ask_once(&self, mut payload: LlmPayload) -> LlmStream {
        let path = self.api.path(payload.model.as_ref().unwrap_or(&self.model));
        let url = path.and_then(|path| self.endpoint.url(&path));
        match url.and_then(|url| Ok((url, self.request_body(&payload)?))) {
            Ok((url, body)) => {
                // The transcript is released before the answer ends.
                payload.transcript = Arc::default();
                payload.model.get_or_insert_with(|| self.model.clone());
                let asked = Asked { url, body, payload, limits: Arc::clone(&self.limits) };
                Arc::clone(&self.api).send(&self.endpoint, asked)
            }
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl<A: Api> LlmProvider for ApiProvider<A> {
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        match self.uploads.as_ref().filter(|uploads| uploads.concerns(&payload)) {
            Some(uploads) => {
                let asked = self.clone().ask_uploaded(Arc::clone(uploads), payload);
                Box::pin(stream::once(asked).flatten())
            }
            None => self.ask(payload),
        }
    }

    fn has_compacted(&self, metadata: &ProviderMetadata) -> bool {
        self.api.has_compacted(metadata)
    }
}

impl<A: fmt::Debug> fmt::Debug for ApiProvider<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiProvider")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("endpoint", &self.endpoint)
            .field("api", &self.api)
            .field("limits", &self.limits)
            .field("uploads", &self.uploads)
            .finish_non_exhaustive()
    }
}

/// Configures an [`ApiProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ApiProviderBuilder<A: Api> {
    pub(super) settings: Settings,
    pub(super) api: A,
}

impl<A: Api> ApiProviderBuilder<A> {
    pub(super) fn from_env(location: &'static Location) -> Self {
        let settings = Settings::from_vars(location, |name| std::env::var(name).ok());
        Self { settings, api: A::default() }
    }

    /// Sets the API key. It is sent in a header, never in the URL. `Debug` and errors do not show it.
    ///
    /// Default: none, which suffices for a loopback server and for a key in a [`header`](Self::header).
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        let key: String = key.into();
        self.settings.api_key = (!key.is_empty()).then(|| SecretString::from(key));
        self
    }

    /// Sets the address of the API, in the form of the vendor's own SDKs: with `/v1` for OpenAI and compatible servers,
    /// without a path for Anthropic and Gemini. Default: the vendor's public address.
    ///
    /// Plain `http` sends the key unencrypted; use it on loopback only.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.settings.base_url = url.into();
        self
    }

    /// Sets the model of runs that name none. Default: the API's default model.
    pub fn model(mut self, model: impl Into<Text>) -> Self {
        self.settings.model = Some(model.into());
        self
    }

    /// Adds a header to every request. A second call with the same name replaces the header, also one of the provider's
    /// own. The value is treated as a secret. Default: none.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value: String = value.into();
        self.settings.headers.push((name.into(), value.into()));
        self
    }

    /// Adds the certificates of this PEM text to the trusted root certificates of the system. A private server, or a
    /// corporate proxy that decrypts TLS, requires it. May be called more than once. Default: none.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.settings.root_certificates.push(pem.into());
        self
    }

    /// Sets timeouts, retries and limits of requests and answers. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Uploads images, PDF and (Gemini) audio of more than `bytes` to the provider's files API, once, and names them by id
    /// in requests. Default: none is uploaded, and each request carries the content.
    ///
    /// Without it, a file of 10 MB is sent with each model call of each turn. The provider and its clones remember
    /// uploaded files by their content until the provider's API deletes them: OpenAI after 30 days, as requested in the
    /// upload, Gemini after 48 hours, Anthropic never. A file that the API does not find is uploaded again, once. A
    /// file that cannot be uploaded stays in the requests of the next minute. OpenAI's Chat Completions API accepts
    /// uploaded PDF only.
    ///
    /// The provider keeps the files: nothing deletes them when a chat ends. Other clients of the same key can name them.
    ///
    /// ```
    /// use omniassist_server::OpenAiProvider;
    ///
    /// let provider = OpenAiProvider::builder().api_key("sk-…").upload_files_over(1 << 20).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn upload_files_over(mut self, bytes: usize) -> Self {
        self.settings.upload_files_over = Some(bytes);
        self
    }

    /// Checks the settings and creates the provider.
    ///
    /// # Errors
    ///
    /// Returns an error if the base URL, the key, a header, a root certificate or the model's name is not valid. A
    /// missing key is an error for a server that is not on loopback, and a missing model for a vendor without a default
    /// model.
    pub fn build(mut self) -> Result<ApiProvider<A>> {
        let endpoint = self.api.bind(&mut self.settings)?;
        let uploads = match self.settings.upload_files_over {
            Some(over) => Some(Arc::new(Uploads::new(A::FILES, &self.settings, over)?)),
            None => None,
        };
        let Settings { name, model, default_model, limits, .. } = self.settings;
        let Some(model) = model.or(default_model) else {
            return Err(Error::configuration(format!(
                "no model: {name} has no default one; call `model`, or set OMNIASSIST_MODEL"
            )));
        };
        Ok(ApiProvider { name, model, endpoint, api: Arc::new(self.api), limits: Arc::new(limits), uploads })
    }
}
