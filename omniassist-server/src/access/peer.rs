use std::net::SocketAddr;

/// The address of the peer of a request's connection, in the request's extensions. Adapters insert it if their framework
/// provides it.
///
/// A loopback address means that the request came from this machine. Such a request must name `localhost`, a name below
/// it, a loopback address, or one of the [allowed hosts](crate::AssistantBuilder::allowed_hosts). Otherwise a web page
/// could point its own name at 127.0.0.1 (DNS rebinding) and use the assistant as a page of the same origin.
///
/// The address does not authenticate the sender: behind a proxy it is the proxy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeerAddr(pub SocketAddr);

impl PeerAddr {
    /// Returns `true` for a connection from this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.0.ip().to_canonical().is_loopback()
    }
}

impl From<SocketAddr> for PeerAddr {
    fn from(address: SocketAddr) -> Self {
        Self(address)
    }
}
