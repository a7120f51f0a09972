use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::address;

type Lookup =
    Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

/// The rules for requests to other servers: hosts, addresses, ports, and the bounds of a response.
///
/// The default policy allows `https://` URLs on port 443, of servers with a public address.
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::outbound::OutboundPolicy;
///
/// let policy = OutboundPolicy::new()
///     .only_hosts(["api.example.com", "erp.internal"])
///     .allow_internal_host("erp.internal")
///     .timeout(Duration::from_secs(5));
/// # let _ = policy;
/// ```
#[derive(Clone)]
#[must_use = "a policy has no effect unless it is given to a client"]
pub struct OutboundPolicy {
    hosts: Option<Vec<String>>,
    internal_hosts: Vec<String>,
    addresses: Vec<IpAddr>,
    ports: Vec<u16>,
    lookup: Option<Lookup>,
    /// PEM texts.
    pub(super) root_certificates: Vec<Vec<u8>>,
    allows_http: bool,
    pub(crate) max_bytes: usize,
    pub(crate) timeout: Duration,
}

impl Default for OutboundPolicy {
    fn default() -> Self {
        Self {
            hosts: None,
            internal_hosts: Vec::new(),
            addresses: Vec::new(),
            ports: Vec::new(),
            lookup: None,
            root_certificates: Vec::new(),
            allows_http: false,
            max_bytes: 256 << 10,
            timeout: Duration::from_secs(30),
        }
    }
}

impl OutboundPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows URLs of these hosts only: `api.example.com`, or `*.example.com` for all hosts below a domain. Default:
    /// every host.
    pub fn only_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.hosts = Some(hosts.into_iter().map(pattern).collect());
        self
    }

    /// Allows this host of your own network (or `*.internal` for all hosts below a domain) to have a private, shared,
    /// loopback or unique local address, and its URLs to begin with `http://`. Link-local addresses and those at which
    /// clouds serve credentials still need [`allow_address`](Self::allow_address). Default: none.
    ///
    /// Whoever controls the name of the host decides which server of your network is called. Networks on the way can read
    /// and change what is sent over `http://`.
    pub fn allow_internal_host(mut self, host: impl Into<String>) -> Self {
        self.internal_hosts.push(pattern(host));
        self
    }

    /// Allows connections to this internal address, such as that of your own server. Everyone who chooses URLs can then
    /// read from it all content that needs no login. Default: public addresses only.
    pub fn allow_address(mut self, address: impl Into<IpAddr>) -> Self {
        self.addresses.push(address.into().to_canonical());
        self
    }

    /// Allows URLs that name this port. Default: none, so that the port is 443, or 80 for `http://`.
    pub fn allow_port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Allows `http://` URLs of every host. The networks on the way can read and change what is sent. Default: `https://`
    /// only.
    pub fn allow_http(mut self) -> Self {
        self.allows_http = true;
        self
    }

    /// Adds the certificates of this PEM text to the trusted root certificates of the system, for your own server. May be
    /// called more than once. Default: none.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Returns the texts of [`root_certificate`](Self::root_certificate), for a client of your own that obeys the policy.
    pub fn root_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.root_certificates.iter().map(Vec::as_slice)
    }

    /// Sets the maximum number of bytes that are read of a response. Default: 256 KiB.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the time of a request and its response, including the look-up of the host. Default: 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the function that resolves a host. The policy applies to the returned addresses. Default: the resolver of
    /// the system.
    pub fn resolver<F, R>(mut self, lookup: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        self.lookup = Some(Arc::new(move |host| Box::pin(lookup(host))));
        self
    }

    pub(super) fn allows_host(&self, host: &str) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| is_listed(hosts, host))
    }

    pub(super) fn allows_port(&self, port: u16) -> bool {
        self.ports.contains(&port)
    }

    pub(super) fn allows_http(&self, host: &str) -> bool {
        self.allows_http || is_listed(&self.internal_hosts, host)
    }

    /// Returns `true` if no URL may begin with `http://`.
    pub(super) fn is_https_only(&self) -> bool {
        !self.allows_http && self.internal_hosts.is_empty()
    }

    pub(super) fn allows_address(&self, host: &str, ip: IpAddr) -> bool {
        address::is_public(ip)
            || self.addresses.contains(&ip.to_canonical())
            || (is_listed(&self.internal_hosts, host) && address::is_private(ip))
    }

    /// Returns the addresses of a host, without a check.
    pub(super) async fn look_up(&self, host: String) -> io::Result<Vec<IpAddr>> {
        match &self.lookup {
            Some(lookup) => lookup(host).await,
            None => Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()),
        }
    }
}

/// Returns a host in the form of a list.
fn pattern(host: impl Into<String>) -> String {
    bare(&host.into().to_ascii_lowercase()).to_owned()
}

/// Returns a host without the brackets of an address and without the dot of the root.
fn bare(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn is_listed(hosts: &[String], host: &str) -> bool {
    let host = bare(host);
    hosts.iter().any(|allowed| match allowed.strip_prefix('*') {
        Some(domain) => domain.starts_with('.') && host.len() > domain.len() && host.ends_with(domain),
        None => host == allowed,
    })
}

impl fmt::Debug for OutboundPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundPolicy")
            .field("hosts", &self.hosts)
            .field("internal_hosts", &self.internal_hosts)
            .field("addresses", &self.addresses)
            .field("ports", &self.ports)
            .field("allows_http", &self.allows_http)
            .field("max_bytes", &self.max_bytes)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
