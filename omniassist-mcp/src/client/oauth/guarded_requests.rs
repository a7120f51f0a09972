use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Uri;
use omniassist_server::outbound::{OutboundClient, OutboundPolicy};
use reqwest::Url;
use rmcp::transport::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};

use crate::client::McpError;
use crate::sync::lock;

/// The client for all requests of OAuth.
///
/// The URLs come from documents of servers, so each of them is checked. Only the origin of the MCP server, which the
/// application has set, can be an address of the internal network. No redirect is followed here.
pub(super) struct GuardedRequests {
    server: Url,
    own: OutboundClient,
    others: OutboundClient,
}

impl GuardedRequests {
    /// Creates the client for a server. Without a policy for its origin, its address can be internal.
    ///
    /// # Errors
    ///
    /// Returns an error if a policy cannot be used.
    pub(super) fn new(
        server: &Url,
        own: Option<OutboundPolicy>,
        others: OutboundPolicy,
    ) -> Result<Arc<Self>, McpError> {
        let client = |policy| OutboundClient::new(policy).map_err(McpError::authorization);
        let own = own.unwrap_or_else(|| of_application(server));
        Ok(Arc::new(Self { server: server.clone(), own: client(own)?, others: client(others)? }))
    }

    /// Returns `true` for a URL with exactly the origin of the server.
    fn is_own(&self, url: &Uri) -> bool {
        let port = url.port_u16().or_else(|| match url.scheme_str() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        });
        url.scheme_str() == Some(self.server.scheme())
            && url.host() == self.server.host_str()
            && port == self.server.port_or_known_default()
    }
}

/// Returns the policy for a URL that the application has set.
fn of_application(url: &Url) -> OutboundPolicy {
    let host = url.host_str().unwrap_or_default();
    let policy = OutboundPolicy::new().only_hosts([host]).allow_internal_host(host);
    match url.port() {
        Some(port) => policy.allow_port(port),
        None => policy,
    }
}

/// The requests of one discovery, and of what follows it.
pub(super) struct DiscoveryRequests {
    guarded: Arc<GuardedRequests>,
    latest: Mutex<Option<Uri>>,
}

impl DiscoveryRequests {
    pub(super) fn new(guarded: Arc<GuardedRequests>) -> Arc<Self> {
        Arc::new(Self { guarded, latest: Mutex::default() })
    }

    /// Returns `true` if the latest request went to the origin of this URL.
    pub(super) fn were_sent_to(&self, url: &str) -> bool {
        let latest = lock(&self.latest).as_ref().and_then(|latest| Url::parse(&latest.to_string()).ok());
        latest.zip(Url::parse(url).ok()).is_some_and(|(latest, url)| latest.origin() == url.origin())
    }
}

impl OAuthHttpClient for DiscoveryRequests {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        *lock(&self.latest) = Some(request.request.uri().clone());
        self.guarded.execute(request)
    }
}

impl OAuthHttpClient for GuardedRequests {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.request.into_parts();
            let client = if self.is_own(&parts.uri) { &self.own } else { &self.others };
            let received = client.send(http::Request::from_parts(parts, Bytes::from(body))).await?;
            if received.is_cut() {
                return Err("the response is too large".into());
            }
            let mut response = http::Response::new(received.body().to_vec());
            *response.status_mut() = received.status();
            *response.headers_mut() = received.headers().clone();
            Ok(response)
        })
    }
}
