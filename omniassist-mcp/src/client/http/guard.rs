use std::net::SocketAddr;

use omniassist_server::outbound::OutboundPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The resolver of a client whose requests obey a policy. The client connects to the checked addresses.
pub(super) struct Guard(pub(super) OutboundPolicy);

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0.clone();
        Box::pin(async move {
            let addresses = policy.resolve(name.as_str()).await?;
            // The client replaces port 0 by the port of the URL.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}
