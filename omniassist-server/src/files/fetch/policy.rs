use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

type Lookup =
    Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

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
#[derive(Clone)]
#[must_use = "a policy has no effect unless it is given to an assistant"]
pub struct FetchPolicy {
    hosts: Option<Vec<String>>,
    addresses: Vec<IpAddr>,
    ports: Vec<u16>,
    lookup: Option<Lookup>,
    /// PEM texts.
    pub(super) root_certificates: Vec<Vec<u8>>,
    pub(super) allows_http: bool,
    pub(super) max_bytes: usize,
    pub(super) max_files: usize,
    pub(super) timeout: Duration,
}

impl Default for FetchPolicy {
    fn default() -> Self {
        Self {
            hosts: None,
            addresses: Vec::new(),
            ports: Vec::new(),
            lookup: None,
            root_certificates: Vec::new(),
            allows_http: false,
            max_bytes: 10 << 20,
            max_files: 10,
            timeout: Duration::from_secs(10),
        }
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
        self.hosts = Some(hosts.into_iter().map(|host| host.into().to_ascii_lowercase()).collect());
        self
    }

    /// Allows connections to this internal address, such as that of your own file server. Every client can then read
    /// from it all content that needs no login. Default: public addresses only.
    pub fn allow_address(mut self, address: impl Into<IpAddr>) -> Self {
        self.addresses.push(address.into().to_canonical());
        self
    }

    /// Allows URLs that name this port. Default: none, so that the port is 443, or 80 for `http://`.
    pub fn allow_port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Allows `http://` URLs. The networks on the way can read and change such a file. Default: `https://` only.
    pub fn allow_http(mut self) -> Self {
        self.allows_http = true;
        self
    }

    /// Adds the certificates of this PEM text to the trusted root certificates of the system, for your own file server.
    /// May be called more than once. Default: none.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Sets the maximum size of one file in bytes. Default: 10 MiB.
    /// [`FileLimits::max_run_bytes`](crate::files::FileLimits::max_run_bytes) bounds the sum of the downloads of a run.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the maximum number of different URLs that one run downloads, the newest first. Default: 10.
    pub fn max_files(mut self, files: usize) -> Self {
        self.max_files = files;
        self
    }

    /// Sets the timeout of one file, including its redirects. Default: 10 seconds.
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
        let host = host.strip_suffix('.').unwrap_or(host);
        self.hosts.as_ref().is_none_or(|hosts| {
            hosts.iter().any(|allowed| match allowed.strip_prefix('*') {
                Some(domain) => {
                    domain.starts_with('.') && host.len() > domain.len() && host.ends_with(domain)
                }
                None => host == allowed,
            })
        })
    }

    pub(super) fn allows_port(&self, port: u16) -> bool {
        self.ports.contains(&port)
    }

    pub(super) fn allows_address(&self, address: IpAddr) -> bool {
        super::address::is_public(address) || self.addresses.contains(&address.to_canonical())
    }

    /// Returns the addresses of a host, without a check.
    pub(super) async fn look_up(&self, host: String) -> io::Result<Vec<IpAddr>> {
        match &self.lookup {
            Some(lookup) => lookup(host).await,
            None => Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()),
        }
    }
}

impl fmt::Debug for FetchPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchPolicy")
            .field("hosts", &self.hosts)
            .field("addresses", &self.addresses)
            .field("ports", &self.ports)
            .field("allows_http", &self.allows_http)
            .field("max_bytes", &self.max_bytes)
            .field("max_files", &self.max_files)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
