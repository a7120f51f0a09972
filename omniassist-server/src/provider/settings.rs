//! The settings of every provider: address, key, headers, model, limits.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Uri};
use omniassist_core::{Limits, Text};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use super::error_report::error_from_response;
use crate::provider::{LlmStream, WireDecoder};
use crate::transport::{Lasting, ProviderRequest, Transport, is_loopback};
use crate::{Error, Result};

/// The address of an API, its environment variables, and its defaults.
#[derive(Debug, PartialEq, Eq)]
pub struct Location {
    pub(super) name: &'static str,
    pub(super) model: Option<&'static str>,
    pub(super) base_url: &'static str,
    pub(super) base_url_variable: &'static str,
    /// The variables of the key. The first one that is set counts.
    pub(super) key_variables: &'static [&'static str],
    pub(super) key_header: KeyHeader,
}

/// The header of a key. A key is never part of the URL, because URLs appear in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The provider's own header.
    Named(&'static str),
}

/// The settings of a provider before validation.
#[derive(Clone)]
pub struct Settings {
    pub(super) location: &'static Location,
    pub(super) name: &'static str,
    pub(super) base_url: String,
    pub(super) key_header: KeyHeader,
    pub(super) api_key: Option<SecretString>,
    pub(super) headers: Vec<(String, SecretString)>,
    /// The headers of the API itself. They contain no secrets.
    pub(super) own_headers: Vec<(&'static str, String)>,
    /// PEM texts.
    pub(super) root_certificates: Vec<Vec<u8>>,
    pub(super) model: Option<Text>,
    pub(super) default_model: Option<Text>,
    pub(super) limits: Limits,
    pub(super) upload_files_over: Option<usize>,
}

impl Settings {
    pub(super) fn new(location: &'static Location) -> Self {
        Self {
            location,
            name: location.name,
            base_url: location.base_url.to_owned(),
            key_header: location.key_header,
            api_key: None,
            headers: Vec::new(),
            own_headers: Vec::new(),
            root_certificates: Vec::new(),
            model: None,
            default_model: location.model.map(Text::from_static),
            limits: Limits::default(),
            upload_files_over: None,
        }
    }

    /// Reads settings from environment variables. An empty variable counts as unset.
    pub(super) fn from_vars(location: &'static Location, read: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name| read(name).filter(|value| !value.trim().is_empty());
        let mut settings = Self::new(location);
        if let Some(base_url) = read(location.base_url_variable) {
            settings.base_url = base_url;
        }
        let key = location.key_variables.iter().find_map(|name| read(name));
        settings.api_key = key.map(|key| SecretString::from(key.trim().to_owned()));
        settings.model = read("OMNIASSIST_MODEL").map(Text::from);
        settings
    }

    /// Checks the settings and binds them to one path below the base URL.
    pub(super) fn bind(&self, path: &str) -> Result<Endpoint> {
        let uri = self.check_base_url()?;
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
            None if has_credential || uri.host().is_some_and(is_loopback) => {}
            None => {
                let variable = self.location.key_variables.first().copied().unwrap_or_default();
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
            url: parse_url(&format!("{}{path}", self.trimmed_base_url()))?,
            headers: Arc::new(headers),
            transport: Transport::new(self.limits.clone(), &uri, &self.root_certificates)?,
            answers_json: false,
        })
    }

    fn trimmed_base_url(&self) -> &str {
        self.base_url.trim().trim_end_matches('/')
    }

    /// Checks the base URL. An error names the method that sets it and its environment variable.
    fn check_base_url(&self) -> Result<Uri> {
        let (url, variable) = (self.trimmed_base_url(), self.location.base_url_variable);
        let wrong = |why| Error::configuration(format!("`base_url` ({variable}) {why}"));
        // `Uri` drops a fragment without an error.
        if url.contains('#') {
            return Err(wrong("must not have a fragment"));
        }
        let uri: Uri = url
            .parse()
            .map_err(|source| wrong("is not a URL").with_source(Box::<http::uri::InvalidUri>::new(source)))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("must begin with http:// or https://"));
        }
        if uri.query().is_some() {
            return Err(wrong("must not have a query"));
        }
        // A credential in a URL appears in logs.
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("must not hold a user name or password"));
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(wrong("has no host"));
        }
        Ok(uri)
    }

    pub(super) fn host(&self) -> Option<String> {
        self.check_base_url().ok()?.host().map(str::to_ascii_lowercase)
    }
}

/// Prints no key, no header value, and no URL that may contain one.
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

/// The destination of requests.
#[derive(Clone)]
pub struct Endpoint {
    url: Url,
    headers: Arc<HeaderMap>,
    transport: Transport,
    answers_json: bool,
}

impl Endpoint {
    /// Returns the address of a path below the endpoint's own. The caller has checked that `path` cannot change the
    /// host.
    pub(super) fn url(&self, path: &str) -> Result<Url> {
        if path.is_empty() { Ok(self.url.clone()) } else { parse_url(&format!("{}{path}", self.url)) }
    }

    /// Turns this into an endpoint that takes other documents than JSON, with these headers, and answers with one JSON
    /// document.
    pub(super) fn for_documents(mut self, headers: &[(&'static str, String)]) -> Result<Self> {
        let own = Arc::make_mut(&mut self.headers);
        for (name, value) in headers {
            let value = HeaderValue::try_from(value)
                .map_err(|source| Error::configuration("not a header value").with_source(source))?;
            own.insert(HeaderName::from_static(name), value);
        }
        self.answers_json = true;
        Ok(self)
    }

    pub(super) fn send<D>(&self, url: Url, body: Bytes, decoder: D) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        self.send_lasting(url, body, decoder, None)
    }

    /// Sends a request whose answer may outlive its connection.
    pub(super) fn send_lasting<D>(
        &self,
        url: Url,
        body: Bytes,
        decoder: D,
        lasting: Option<Arc<dyn Lasting>>,
    ) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        let request = ProviderRequest {
            method: Method::POST,
            url,
            headers: Arc::clone(&self.headers),
            body,
            answers_json: self.answers_json,
        };
        // The transport removes the values of sensitive headers from the provider's texts.
        self.transport.stream(request, decoder, error_from_response, lasting)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

fn parse_url(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|source| Error::configuration("`base_url` is not a URL").with_source(source))
}

fn secret_value(what: &'static str, value: &str) -> Result<HeaderValue> {
    // The error of `HeaderValue` is not kept as a source, because it describes the secret.
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| Error::configuration(format!("`{what}`: the value cannot stand in a header")))?;
    value.set_sensitive(true);
    Ok(value)
}
