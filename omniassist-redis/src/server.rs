use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::store::StoreError;
use redis::Client;

use crate::link::Link;

/// The longest time for a command of a limit, below the two seconds that a limit may take.
const RESPONSE: Duration = Duration::from_secs(1);

/// A Redis or Valkey server, which the servers of an assistant share. Clones share the connection.
#[derive(Clone)]
pub struct Redis {
    client: Client,
    prefix: Arc<str>,
    /// The connection of the limits.
    link: Arc<Link>,
}

impl Redis {
    /// Reads the URL of a server: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://…` for TLS, or `unix:PATH`.
    ///
    /// It does not wait for the server. The first use connects.
    ///
    /// # Errors
    ///
    /// Returns an [invalid](StoreError::is_invalid) error if the URL has another form, or asks for TLS and no cargo feature
    /// of this crate provides it.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Client::open(url).map(Self::of).map_err(StoreError::invalid)
    }

    /// Reads the URL of a server, as [`connect`](Self::connect) does, and trusts only the root certificates of a PEM text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`connect`](Self::connect), and an [invalid](StoreError::is_invalid) error if the URL does not
    /// begin with `rediss:` or if a certificate of the text cannot be read.
    #[cfg(any(feature = "__rustls", feature = "native-tls"))]
    pub fn connect_with_root_certificate(url: &str, pem: impl Into<Vec<u8>>) -> Result<Self, StoreError> {
        let certificates = redis::TlsCertificates { client_tls: None, root_cert: Some(pem.into()) };
        Client::build_with_tls(url, certificates).map(Self::of).map_err(StoreError::invalid)
    }

    fn of(client: Client) -> Self {
        install_tls();
        let link = Arc::new(Link::new(client.clone(), RESPONSE));
        Self { client, prefix: "omniassist:".into(), link }
    }

    /// Sets what the names of all keys begin with. Servers of one assistant have the same prefix. Default: `omniassist:`.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the key of a principal in a limit. The length tells the end of the name, in which a colon may be. One slot of a
    /// cluster has all keys that begin with this one.
    pub(crate) fn key_of(&self, kind: &str, name: &str, principal: &Principal) -> String {
        self.key(&format!("{kind}:{{{}:{name}:{}}}", name.len(), principal.id()))
    }

    /// Returns the connection of the limits.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Creates a connection of its own.
    pub(crate) fn new_link(&self, response: Duration) -> Link {
        Link::new(self.client.clone(), response)
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may have a password.
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Chooses the cryptography of rustls if the application has chosen none: the `redis` crate takes the choice of the process.
fn install_tls() {
    #[cfg(feature = "tls-aws-lc")]
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    #[cfg(all(feature = "tls-ring", not(feature = "tls-aws-lc")))]
    drop(rustls::crypto::ring::default_provider().install_default());
}
