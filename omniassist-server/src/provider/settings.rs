//! What every provider is set up with: where the API is, the key, headers, limits.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::Uri;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use omniassist_core::{Limits, Text};
use secrecy::{ExposeSecret, SecretString};

use super::report::error_from_response;
use crate::provider::{LlmStream, WireDecoder};
use crate::transport::{ProviderRequest, Transport, is_loopback};
use crate::{Error, Result};

/// What is particular to one provider's API.
#[derive(Debug)]
pub(super) struct Api {
    /// Where it is, unless told otherwise.
    pub(super) base_url: &'static str,
    /// The environment variable that tells otherwise.
    pub(super) base_url_variable: &'static str,
    /// The environment variable that holds the key.
    pub(super) key_variable: &'static str,
    pub(super) key_header: KeyHeader,
}

/// How a key is sent. Never in the URL, which ends up in logs.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of the provider's own.
    Named(&'static str),
}

/// The settings of a provider in the making.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) api: &'static Api,
    pub(super) base_url: String,
    pub(super) key_header: KeyHeader,
    pub(super) api_key: Option<SecretString>,
    pub(super) headers: Vec<(String, SecretString)>,
    /// Headers that the API itself wants, none of them a secret.
    pub(super) own_headers: Vec<(&'static str, String)>,
    /// PEM texts.
    pub(super) root_certificates: Vec<Vec<u8>>,
    pub(super) model: Option<Text>,
    pub(super) limits: Limits,
}

impl Settings {
    pub(super) fn new(api: &'static Api) -> Self {
        Self {
            api,
            base_url: api.base_url.to_owned(),
            key_header: api.key_header,
            api_key: None,
            headers: Vec::new(),
            own_headers: Vec::new(),
            root_certificates: Vec::new(),
            model: None,
            limits: Limits::default(),
        }
    }

    /// Settings from variables as `read` gives them; an empty one counts as unset.
    pub(super) fn from_vars(api: &'static Api, read: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name| read(name).filter(|value| !value.trim().is_empty());
        let mut settings = Self::new(api);
        if let Some(base_url) = read(api.base_url_variable) {
            settings.base_url = base_url;
        }
        settings.api_key = read(api.key_variable).map(|key| SecretString::from(key.trim().to_owned()));
        settings.model = read("OMNIASSIST_MODEL").map(Text::from);
        settings
    }

    /// Checks the settings and binds them to one path below the base URL.
    pub(super) fn bind(&self, path: &str) -> Result<Endpoint> {
        let base_url = self.base_url.trim().trim_end_matches('/');
        let host = check_base_url(base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let has_credential = !self.headers.is_empty();
        match &self.api_key {
            Some(key) => {
                let key = key.expose_secret();
                match self.key_header {
                    KeyHeader::Bearer => {
                        headers.insert(AUTHORIZATION, secret_value("api_key", &format!("Bearer {key}"))?);
                    }
                    KeyHeader::Named(name) => {
                        headers.insert(HeaderName::from_static(name), secret_value("api_key", key)?);
                    }
                }
            }
            None if has_credential || is_loopback(&host) => {}
            None => {
                let variable = self.api.key_variable;
                return Err(Error::configuration(format!("no API key: set {variable}, or call `api_key`")));
            }
        }
        for (name, value) in &self.own_headers {
            let value = HeaderValue::try_from(value).map_err(|source| {
                Error::configuration(format!("`{name}`: the value cannot stand in a header"))
                    .with_source(source)
            })?;
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in &self.headers {
            let header = HeaderName::try_from(name.as_str())
                .map_err(|source| Error::configuration("`header`: not a header name").with_source(source))?;
            headers.insert(header, secret_value("header", value.expose_secret())?);
        }
        Ok(Endpoint {
            url: format!("{base_url}{path}"),
            headers: Arc::new(headers),
            transport: Transport::new(self.limits.clone(), base_url, &self.root_certificates)?,
        })
    }

    pub(super) fn host(&self) -> Option<String> {
        check_base_url(self.base_url.trim().trim_end_matches('/')).ok()
    }
}

/// Prints no key, no header value, and no URL that may hold one.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("base_url", &self.host().map_or("[not acceptable]", |_| &self.base_url))
            .field("has_api_key", &self.api_key.is_some())
            .field("headers", &headers)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Where requests go.
#[derive(Clone)]
pub(super) struct Endpoint {
    url: String,
    headers: Arc<HeaderMap>,
    transport: Transport,
}

impl Endpoint {
    /// Sends a request, or gives the error of its encoder as the stream's only item.
    pub(super) fn ask<D>(&self, body: Result<Bytes>, decoder: D) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        match body {
            Ok(body) => self.send(body, decoder),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }

    pub(super) fn send<D>(&self, body: Bytes, decoder: D) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        self.send_below("", body, decoder)
    }

    /// Sends to a path below the endpoint's own, for an API whose path depends on the request. The caller has checked
    /// that nothing in `path` can lead elsewhere.
    pub(super) fn send_below<D>(&self, path: &str, body: Bytes, decoder: D) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        let url = format!("{}{path}", self.url);
        let request = ProviderRequest { url, headers: Arc::clone(&self.headers), body };
        // The transport takes the values of sensitive headers out of what the provider writes back.
        self.transport.stream(request, decoder, error_from_response)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Checks a base URL and gives its host.
fn check_base_url(url: &str) -> Result<String> {
    let wrong = |why: &'static str| Error::configuration(why);
    // `Uri` drops a fragment without a word.
    if url.contains('#') {
        return Err(wrong("`base_url` must not have a fragment"));
    }
    let uri: Uri = url.parse().map_err(|source| {
        wrong("`base_url` is not a URL").with_source(Box::<http::uri::InvalidUri>::new(source))
    })?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("`base_url` must begin with http:// or https://"));
    }
    if uri.query().is_some() {
        return Err(wrong("`base_url` must not have a query"));
    }
    // A credential in a URL ends up in logs.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(wrong("`base_url` must not hold a user name or password"));
    }
    match uri.host() {
        Some(host) if !host.is_empty() => Ok(host.to_ascii_lowercase()),
        _ => Err(wrong("`base_url` has no host")),
    }
}

fn secret_value(what: &'static str, value: &str) -> Result<HeaderValue> {
    // The error of `HeaderValue` is not kept as a source: it is about the secret.
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| Error::configuration(format!("`{what}`: the value cannot stand in a header")))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The setters that all builders have, with what differs from API to API in their documentation.
macro_rules! common_setters {
    (key: $key:literal, base_url: $base_url:literal $(,)?) => {
        #[doc = concat!("The API key, sent as ", $key, ". It is kept as a secret: neither `Debug` nor an error shows it.")]
        ///
        /// Default: none, which only a loopback server or a key in a [`header`](Self::header) makes do with.
        pub fn api_key(mut self, key: impl Into<String>) -> Self {
            let key: String = key.into();
            self.settings.api_key = (!key.is_empty()).then(|| secrecy::SecretString::from(key));
            self
        }

        #[doc = concat!("Where the API is. ", $base_url)]
        ///
        /// Over plain `http` the key travels unprotected: use that on loopback only.
        pub fn base_url(mut self, url: impl Into<String>) -> Self {
            self.settings.base_url = url.into();
            self
        }

        /// The model that answers where a run names none.
        pub fn model(mut self, model: impl Into<omniassist_core::Text>) -> Self {
            self.settings.model = Some(model.into());
            self
        }

        /// A further header of every request; the same name again replaces it, also the provider's own. Its value is
        /// treated as a secret.
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            let value: String = value.into();
            self.settings.headers.push((name.into(), value.into()));
            self
        }

        /// Trusts, beside the authorities that the system trusts, the certificates of this PEM text, as a server of
        /// one's own or a corporate proxy that reads TLS needs it. May be called more than once. Default: none.
        pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
            self.settings.root_certificates.push(pem.into());
            self
        }

        /// Timeouts, retries and caps of requests and answers. Default: [`Limits::default`](omniassist_core::Limits).
        pub fn limits(mut self, limits: omniassist_core::Limits) -> Self {
            self.settings.limits = limits;
            self
        }
    };
}
pub(super) use common_setters;

/// What the providers have in common but for their types: how they are made, and how they are shown. A provider has
/// an `endpoint` and `options`, its builder has `settings`, and beside both stands a function `encode::encode`.
#[cfg(feature = "openai")]
macro_rules! provider {
    ($provider:ident, $builder:ident, $api:expr, $default_model:literal) => {
        impl $provider {
            #[doc = concat!("The API with this key and the [default model](", $default_model, ").")]
            ///
            /// # Errors
            ///
            /// When the key is empty or cannot stand in a header.
            pub fn new(api_key: impl Into<String>) -> crate::Result<Self> {
                Self::builder().api_key(api_key).build()
            }

            /// A provider set up by the environment: the key and the base URL from the API's own variables, the model
            /// from `OMNIASSIST_MODEL`. Those that are unset or empty keep their defaults; a loopback base URL needs
            /// no key.
            ///
            /// # Errors
            ///
            /// When the key is missing, or a value is not usable.
            pub fn from_env() -> crate::Result<Self> {
                let settings =
                    crate::provider::settings::Settings::from_vars($api, |name| std::env::var(name).ok());
                $builder { settings, ..Self::builder() }.build()
            }

            /// The body of the request that [`stream`](crate::LlmProvider::stream) would send: for tests and for
            /// finding faults. The same payload gives the same bytes.
            ///
            /// # Errors
            ///
            /// When the payload has no JSON form.
            pub fn request_body(&self, payload: &omniassist_core::LlmPayload) -> crate::Result<bytes::Bytes> {
                encode::encode(payload, &self.options)
            }
        }

        impl std::fmt::Debug for $provider {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($provider))
                    .field("endpoint", &self.endpoint)
                    .field("options", &self.options)
                    .finish_non_exhaustive()
            }
        }
    };
}
#[cfg(feature = "openai")]
pub(super) use provider;

/// A public decoder that is a `wire` and nothing else.
#[cfg(feature = "openai")]
macro_rules! wire_decoder {
    ($decoder:ident) => {
        impl crate::provider::WireDecoder for $decoder {
            fn feed(
                &mut self,
                chunk: bytes::Bytes,
                events: &mut omniassist_core::EventBuf<omniassist_core::LlmEvent>,
            ) -> crate::Result<()> {
                self.wire.feed(chunk, events)
            }

            fn finish(
                &mut self,
                events: &mut omniassist_core::EventBuf<omniassist_core::LlmEvent>,
            ) -> crate::Result<()> {
                self.wire.finish(events)
            }
        }
    };
}
#[cfg(feature = "openai")]
pub(super) use wire_decoder;

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::*;
    use crate::provider::openai::OPENAI;

    fn with(base_url: &str) -> Settings {
        Settings { base_url: base_url.to_owned(), ..Settings::new(&OPENAI) }
    }

    #[test]
    fn base_urls_are_checked() {
        for good in [
            "https://api.openai.com/v1",
            "http://127.0.0.1:8080/v1/",
            "http://[::1]:1/v1",
            " http://localhost:1234/v1 ",
        ] {
            assert!(
                Settings { api_key: Some("k".into()), ..with(good) }.bind("/responses").is_ok(),
                "{good}"
            );
        }
        for bad in [
            "",
            "api.openai.com/v1",
            "ftp://x/v1",
            "https://u:p@x/v1",
            "https://x/v1?a=b",
            "https://x/v1#f",
            "https:///v1",
        ] {
            assert!(Settings { api_key: Some("k".into()), ..with(bad) }.bind("/responses").is_err(), "{bad}");
        }
        let endpoint = with("http://127.0.0.1:8080/v1//").bind("/chat/completions").unwrap();
        assert_eq!(endpoint.url, "http://127.0.0.1:8080/v1/chat/completions");
    }

    #[test]
    fn only_loopback_does_without_a_key() {
        assert!(with("http://localhost:8080/v1").bind("/responses").is_ok());
        assert!(with("http://127.8.9.1/v1").bind("/responses").is_ok());
        assert!(with("https://example.com/v1").bind("/responses").unwrap_err().is_configuration());
    }

    #[test]
    fn the_key_is_never_printed() {
        let settings = Settings {
            api_key: Some("canary-key".into()),
            headers: vec![("api-key".to_owned(), "canary-header".into())],
            ..Settings::new(&OPENAI)
        };
        let endpoint = settings.bind("/responses").unwrap();
        assert!(endpoint.headers.get(AUTHORIZATION).is_some_and(HeaderValue::is_sensitive));
        let bad =
            Settings { api_key: Some("canary\nkey".into()), ..Settings::new(&OPENAI) }.bind("/").unwrap_err();
        let printed = format!("{settings:?} {endpoint:?} {:?} {bad:?} {bad}", endpoint.headers);
        assert!(!printed.contains("canary"), "{printed}");
    }

    #[test]
    fn empty_variables_count_as_unset() {
        let settings = Settings::from_vars(&OPENAI, |name| match name {
            "OPENAI_API_KEY" => Some(" key \n".to_owned()),
            "OPENAI_BASE_URL" => Some(String::new()),
            _ => None,
        });
        assert_eq!(settings.base_url, OPENAI.base_url);
        assert_eq!(settings.api_key.unwrap().expose_secret(), "key");
        assert_eq!(settings.model, None);
    }
}
