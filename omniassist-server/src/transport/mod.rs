//! The transport of provider requests: one pooled client for each runtime, deadlines, repeats before the first byte,
//! and caps.
//!
//! ```text
//! Transport::stream → Answer (a pull `Stream`): connect → read bytes → WireDecoder → LlmEvents
//! ```
//!
//! No task and no channel is on the way of a token: a poll of the stream polls the body, so a slow reader holds the
//! provider back, and dropping the stream drops the body, on which hyper closes the connection.

mod answer;
mod clients;
mod failure;
mod redact;
mod response;
mod retry;
mod retry_after;
#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
mod tls;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT_ENCODING;
use http::{HeaderMap, HeaderValue};
use omniassist_core::Limits;

use crate::decoder::{LlmStream, WireDecoder};
use crate::{Error, Result};
use answer::Answer;
use clients::Clients;
use tls::Roots;

/// First-byte deadline of a provider on the network.
const FIRST_BYTE: Duration = Duration::from_secs(60);
/// First-byte deadline of a provider on this machine, which may have to load its model first.
const FIRST_BYTE_LOOPBACK: Duration = Duration::from_secs(300);

/// One POST to a provider. Cheap to clone, so that it can be repeated.
#[derive(Clone)]
pub(crate) struct ProviderRequest {
    /// Absolute URL. Never holds a credential.
    pub(crate) url: String,
    /// Headers, the credential's among them (marked sensitive).
    pub(crate) headers: Arc<HeaderMap>,
    /// The JSON body.
    pub(crate) body: Bytes,
}

impl fmt::Debug for ProviderRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderRequest").field("body", &self.body.len()).finish_non_exhaustive()
    }
}

/// Turns a non-2xx answer (status, body) into an error. Status, `retry-after` and request id are added by the
/// transport, and so is the start of the body where the error has no detail.
pub(crate) type ReadError = fn(u16, &[u8]) -> Error;

/// Sends provider requests, over one pooled client for each tokio runtime that polls the answers. Clones share the
/// pools. How many connections there may be is not limited.
#[derive(Clone)]
pub(crate) struct Transport {
    shared: Arc<Shared>,
}

/// The state that all requests of one transport share.
struct Shared {
    clients: Clients,
    limits: Limits,
    first_byte: Duration,
    /// `true` if the provider has ever answered, so that a connection may have come from the pool.
    answered: AtomicBool,
}

impl Transport {
    /// Creates a transport for one base URL. A loopback URL has a longer first-byte deadline and does not use the
    /// system's proxy. Servers are trusted with a certificate of the system's authorities or of these (PEM).
    ///
    /// # Errors
    ///
    /// [`Error::is_configuration`] when the base URL is not an absolute `http:` or `https:` URL, when a root
    /// certificate is none, when the system's certificates cannot be loaded, or when the URL needs TLS and the build
    /// has none.
    pub(crate) fn new(limits: Limits, base_url: &str, root_certificates: &[Vec<u8>]) -> Result<Self> {
        let url = reqwest::Url::parse(base_url).map_err(|error| {
            Error::configuration("the base URL is not an absolute URL").with_source(error)
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::configuration("the base URL is neither http: nor https:"));
        }
        let loopback = url.host_str().is_some_and(is_loopback);
        let roots = Roots::read(root_certificates, url.scheme() == "https")?;
        let of_client = limits.clone();
        let recipe = move || {
            let client = roots.add_to(client(&of_client));
            if loopback { client.no_proxy() } else { client }
        };
        Self::with_clients(limits, recipe, loopback)
    }

    /// Creates a transport over clients of this recipe.
    fn with_clients(
        limits: Limits,
        recipe: impl Fn() -> reqwest::ClientBuilder + Send + Sync + 'static,
        loopback: bool,
    ) -> Result<Self> {
        let clients = Clients::new(recipe)?;
        let default = if loopback { FIRST_BYTE_LOOPBACK } else { FIRST_BYTE };
        let first_byte = limits.first_byte_timeout.unwrap_or(default);
        let answered = AtomicBool::new(false);
        Ok(Self { shared: Arc::new(Shared { clients, limits, first_byte, answered }) })
    }

    /// Sends the request when polled, and decodes the answer. Each attempt gets a fresh decoder.
    ///
    /// The stream must be polled inside a tokio runtime: each attempt takes a connection of the one that it begins in.
    /// Polled to its end it gives the connection back to that runtime's pool; dropped before, it closes the connection,
    /// and ends a wait between two attempts.
    pub(crate) fn stream<D>(&self, request: ProviderRequest, decoder: D, read_error: ReadError) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        Box::pin(Answer::new(Arc::clone(&self.shared), request, decoder, read_error))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("limits", &self.shared.limits)
            .field("first_byte", &self.shared.first_byte)
            .finish_non_exhaustive()
    }
}

fn client(limits: &Limits) -> reqwest::ClientBuilder {
    let mut headers = HeaderMap::new();
    // Compression holds events back until a block is full, so it is not asked for. With the feature `gzip` the answer
    // of a gateway that compresses all the same is read: decoded bytes count against the caps.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let client = reqwest::Client::builder();
    #[cfg(feature = "gzip")]
    let client = client.gzip(true);
    client
        .user_agent(concat!("omniassist/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        // Followed to another host, a redirect would take `api-key` headers along.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(limits.connect_timeout)
        .pool_idle_timeout(limits.pool_idle_timeout)
}

/// Returns `true` if a URL's host names this machine. An IPv6 host comes in brackets.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
