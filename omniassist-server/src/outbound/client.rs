use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Method};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::guard::{Guard, check, parse};
use super::{Clients, OutboundError, OutboundPolicy, OutboundResponse, Roots};
use crate::Result;

/// An HTTP client whose requests obey an [`OutboundPolicy`].
///
/// It follows no redirects, uses no proxy, keeps no cookies and no idle connections, and reads no compressed responses.
/// Clones share the same policy.
#[derive(Clone)]
pub struct OutboundClient {
    inner: Arc<Inner>,
}

struct Inner {
    policy: Arc<OutboundPolicy>,
    clients: Clients,
}

impl OutboundClient {
    /// Creates a client.
    ///
    /// # Errors
    ///
    /// Returns an error if a root certificate is not valid, or the certificates of the system cannot be loaded.
    pub fn new(policy: OutboundPolicy) -> Result<Self> {
        let policy = Arc::new(policy);
        let of_client = Arc::clone(&policy);
        let roots = Roots::read(&policy.root_certificates, false)?;
        let clients = Clients::new(move || {
            let client = reqwest::Client::builder()
                .user_agent(concat!("omniassist/", env!("CARGO_PKG_VERSION")))
                .https_only(of_client.is_https_only())
                // Each hop is checked before it is requested.
                .redirect(reqwest::redirect::Policy::none())
                .referer(false)
                // A proxy would look up the host itself.
                .no_proxy()
                // The limit counts the bytes that were sent.
                .no_gzip()
                .pool_max_idle_per_host(0)
                .dns_resolver(Guard(Arc::clone(&of_client)));
            roots.add_to(client)
        })?;
        Ok(Self { inner: Arc::new(Inner { policy, clients }) })
    }

    /// Sends a request, and reads the response up to [`OutboundPolicy::max_bytes`]. A redirect is returned as it is. Must
    /// be called inside a tokio runtime. Dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the policy refuses the URL or all addresses of its host, if the server cannot be reached, and
    /// if the time is up.
    pub async fn send(&self, request: http::Request<Bytes>) -> Result<OutboundResponse, OutboundError> {
        let (parts, body) = request.into_parts();
        let url = parse(&parts.uri.to_string())?;
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        if !body.is_empty() {
            *sent.body_mut() = Some(body.into());
        } else if [Method::POST, Method::PUT, Method::PATCH].contains(sent.method()) {
            // These methods expect a body (RFC 9110, section 8.6). Servers may answer 411 without a length.
            sent.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let policy = &self.inner.policy;
        let answered = async {
            let response = self.open(sent).await?;
            OutboundResponse::read(response, policy.max_bytes).await
        };
        timeout(policy.timeout, answered).await.map_err(OutboundError::late)?
    }

    /// Checks the URL of a request and sends it. The caller bounds the time, and the bytes of the body.
    pub(crate) async fn open(&self, request: reqwest::Request) -> Result<reqwest::Response, OutboundError> {
        check(&self.inner.policy, request.url())?;
        let client = self.inner.clients.of(&Handle::current());
        client.execute(request).await.map_err(OutboundError::failed)
    }
}

impl fmt::Debug for OutboundClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundClient").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}
