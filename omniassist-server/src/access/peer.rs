use std::net::SocketAddr;

/// The address at the other end of a request's connection, in the request's extensions. Adapters put it there where
/// their framework tells it.
///
/// Where it is a loopback address, the request came from this machine, and only a request for `localhost`, a name below
/// it, a loopback address, or one of the [allowed hosts](crate::AssistantBuilder::allowed_hosts) is answered: a web page
/// can point its own name at 127.0.0.1 (DNS rebinding) and would otherwise be at home here.
///
/// It says nothing of who sent the request: behind a proxy it is the proxy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeerAddr(pub SocketAddr);

impl PeerAddr {
    /// Whether the connection does not leave this machine.
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
