use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use crate::outbound::OutboundPolicy;

/// The rules for downloads of the files that a conversation names by URL; see
/// [`fetch_files`](crate::AssistantBuilder::fetch_files).
///
/// The default policy allows `https://` URLs on port 443, of servers with a public address.
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::files::FetchPolicy;
///
/// let policy = FetchPolicy::new()
///     .only_hosts(["cdn.example.com", "*.images.example.com"])
///     .max_bytes(5 << 20)
///     .timeout(Duration::from_secs(5));
/// # let _ = policy;
/// ```
#[derive(Debug, Clone)]
#[must_use = "a policy has no effect unless it is given to an assistant"]
pub struct FetchPolicy {
    pub(super) outbound: OutboundPolicy,
    pub(super) max_files: usize,
}

impl Default for FetchPolicy {
    fn default() -> Self {
        let outbound = OutboundPolicy::new().max_bytes(10 << 20).timeout(Duration::from_secs(10));
        Self { outbound, max_files: 10 }
    }
}

impl FetchPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows URLs of these hosts only, redirects included: `cdn.example.com`, or `*.example.com` for all hosts below a
    /// domain. Default: every host.
    pub fn only_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.outbound = self.outbound.only_hosts(hosts);
        self
    }

    /// Allows connections to this internal address, such as that of your own file server. Every client can then read
    /// from it all content that needs no login. Default: public addresses only.
    pub fn allow_address(mut self, address: impl Into<IpAddr>) -> Self {
        self.outbound = self.outbound.allow_address(address);
        self
    }

    /// Allows URLs that name this port. Default: none, so that the port is 443, or 80 for `http://`.
    pub fn allow_port(mut self, port: u16) -> Self {
        self.outbound = self.outbound.allow_port(port);
        self
    }

    /// Allows `http://` URLs. The networks on the way can read and change such a file. Default: `https://` only.
    pub fn allow_http(mut self) -> Self {
        self.outbound = self.outbound.allow_http();
        self
    }

    /// Adds the certificates of this PEM text to the trusted root certificates of the system, for your own file server.
    /// May be called more than once. Default: none.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.outbound = self.outbound.root_certificate(pem);
        self
    }

    /// Sets the maximum size of one file in bytes. Default: 10 MiB.
    /// [`FileLimits::max_run_bytes`](crate::files::FileLimits::max_run_bytes) bounds the sum of the downloads of a run.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.outbound = self.outbound.max_bytes(bytes);
        self
    }

    /// Sets the maximum number of different URLs that one run downloads, the newest first. Default: 10.
    pub fn max_files(mut self, files: usize) -> Self {
        self.max_files = files;
        self
    }

    /// Sets the timeout of one file, including its redirects. Default: 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.outbound = self.outbound.timeout(timeout);
        self
    }

    /// Sets the function that resolves a host. The policy applies to the returned addresses. Default: the resolver of
    /// the system.
    pub fn resolver<F, R>(mut self, lookup: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        self.outbound = self.outbound.resolver(lookup);
        self
    }
}
