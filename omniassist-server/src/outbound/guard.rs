//! The checks before each connection.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{OutboundError, OutboundPolicy};
use crate::panics;

impl OutboundPolicy {
    /// Looks a host up, and returns the addresses that the policy allows. A client that connects to one of them, and does not
    /// look the host up again, obeys the policy.
    ///
    /// # Errors
    ///
    /// Returns an error if the host cannot be looked up, or the policy allows none of its addresses.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, OutboundError> {
        let found =
            panics::catch_async("the resolver of an outbound policy", self.look_up(host.to_owned())).await;
        let found = found.unwrap_or_else(|| Err(io::Error::other("the resolver panicked")));
        let mut found = found.map_err(OutboundError::look_up)?;
        found.retain(|address| self.allows_address(host, *address));
        if found.is_empty() { Err(OutboundError::address()) } else { Ok(found) }
    }

    /// Checks a URL as [`OutboundClient::send`](super::OutboundClient::send) does, without a look-up of its host.
    ///
    /// # Errors
    ///
    /// Returns an error if the policy refuses the URL, or if it needs TLS and the build has none.
    pub fn check(&self, url: &str) -> Result<(), OutboundError> {
        let url = parse(url)?;
        if url.scheme() == "https" && !cfg!(feature = "__tls") {
            return Err(OutboundError::url(
                "the URL needs TLS: enable the feature `tls-aws-lc`, `tls-ring` or `native-tls`",
            ));
        }
        check(self, &url)
    }
}

pub(crate) fn parse(url: &str) -> Result<Url, OutboundError> {
    Url::parse(url).map_err(|_| OutboundError::url("the URL is not valid"))
}

/// Checks a URL or the target of a redirect. [`Guard`] checks the addresses of a host name.
pub(super) fn check(policy: &OutboundPolicy, url: &Url) -> Result<(), OutboundError> {
    let host = url.host_str().unwrap_or_default();
    match url.scheme() {
        "https" => {}
        "http" if policy.allows_http(host) => {}
        _ => return Err(OutboundError::url("the URL must begin with https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(OutboundError::url("the URL must not hold a user name or password"));
    }
    if url.port().is_some_and(|port| !policy.allows_port(port)) {
        return Err(OutboundError::url("the port of the URL is not allowed"));
    }
    if host.is_empty() || !policy.allows_host(host) {
        return Err(OutboundError::url("the host of the URL is not allowed"));
    }
    // The client connects to an address without a resolver. The URL's parser has normalised it.
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    if literal.is_ok_and(|address| !policy.allows_address(host, address)) {
        return Err(OutboundError::address());
    }
    Ok(())
}

/// The resolver of the HTTP client. The client connects to the checked addresses and does not look up a host again. An
/// answer that changes between check and connection therefore has no effect.
pub(super) struct Guard(pub(super) Arc<OutboundPolicy>);

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, host) = (Arc::clone(&self.0), name.as_str().to_owned());
        Box::pin(async move {
            let found = policy.resolve(&host).await?;
            // The client replaces port 0 by the port of the URL.
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}
