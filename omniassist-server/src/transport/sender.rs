use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::header::ACCEPT_ENCODING;
use http::{HeaderMap, HeaderValue, Uri};
use omniassist_core::Limits;

use super::answer::Answer;
use super::lasting::Lasting;
use super::loopback::is_loopback;
use super::request::{ProviderRequest, ReadError};
use super::shared::Shared;
use crate::Result;
use crate::decoder::{LlmStream, WireDecoder};
use crate::outbound::{Clients, Roots};

/// First-byte deadline of a provider on the network.
const FIRST_BYTE: Duration = Duration::from_secs(60);
/// First-byte deadline of a provider on this machine, which may have to load its model first.
const FIRST_BYTE_LOOPBACK: Duration = Duration::from_secs(300);

/// Sends provider requests, over one pooled client for each tokio runtime that polls the answers. Clones share the
/// pools. How many connections there may be is not limited.
#[derive(Clone)]
pub(crate) struct Transport {
    pub(super) shared: Arc<Shared>,
}

impl Transport {
    /// Creates a transport for one base URL. A loopback URL has a longer first-byte deadline and does not use the
    /// system's proxy. Servers are trusted with a certificate of the system's authorities or of these (PEM).
    ///
    /// # Errors
    ///
    /// Returns an error if a root certificate is not valid, if the system's certificates cannot be loaded, or if the
    /// URL needs TLS and the build has none.
    pub(crate) fn new(limits: Limits, base_url: &Uri, root_certificates: &[Vec<u8>]) -> Result<Self> {
        let loopback = base_url.host().is_some_and(is_loopback);
        let roots = Roots::read(root_certificates, base_url.scheme_str() == Some("https"))?;
        let of_client = limits.clone();
        let recipe = move || {
            let client = roots.add_to(client(&of_client));
            if loopback { client.no_proxy() } else { client }
        };
        let clients = Clients::new(recipe)?;
        let default = if loopback { FIRST_BYTE_LOOPBACK } else { FIRST_BYTE };
        let first_byte = limits.first_byte_timeout.unwrap_or(default);
        let answered = AtomicBool::new(false);
        Ok(Self { shared: Arc::new(Shared { clients, limits, first_byte, answered }) })
    }

    /// Sends the request when polled, and decodes the answer. Each attempt gets a fresh decoder. The decoders of a `lasting`
    /// answer share their state.
    ///
    /// The stream must be polled inside a tokio runtime: each attempt uses a connection of the runtime in which it
    /// begins. At its end, the stream returns the connection to that runtime's pool. Dropping it earlier closes the
    /// connection, or ends the wait between two attempts.
    pub(crate) fn stream<D>(
        &self,
        request: ProviderRequest,
        decoder: D,
        read_error: ReadError,
        lasting: Option<Arc<dyn Lasting>>,
    ) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        Box::pin(Answer::new(Arc::clone(&self.shared), request, decoder, read_error, lasting))
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
    // Compression holds events back until a block is full, so the request asks for none. With the feature `gzip`, the
    // answer of a gateway that compresses anyway is read, and the limits count its decoded bytes.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let client = reqwest::Client::builder();
    #[cfg(feature = "gzip")]
    let client = client.gzip(true);
    client
        .user_agent(concat!("omniassist/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        // A redirect to another host would send `api-key` headers to that host.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(limits.connect_timeout)
        .pool_idle_timeout(limits.pool_idle_timeout)
}
