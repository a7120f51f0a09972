//! Requests whose answers are the same bytes over all transports, volatile headers apart.
//!
//! Each is sent to a backend of each transport, with an assistant of its own. Compared are the status, the headers
//! ([`Answer::steady`] says which are left out; their order does not count, as frameworks keep them in maps),
//! and every byte
//! of the body without its framing. What the server makes up anew for each answer is replaced first, see [`names`].

mod names;
mod requests;

pub(crate) use requests::entries;

use omniassist_server::Assistant;

use crate::host::Host;
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

/// The prefix of the names of comparisons.
pub(crate) const PREFIX: &str = "bytes::";

/// One request, and the assistant that it is for.
#[derive(Clone)]
pub(crate) struct Entry {
    name: &'static str,
    /// Where the assistant is mounted.
    mount: &'static str,
    ask: Ask,
    assistant: fn() -> Assistant,
    is_cut: bool,
}

impl Entry {
    pub(crate) fn name(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Compares the answer over this transport with that over the first.
    pub(crate) async fn compare(self, transport: Transport) {
        let first = self.answer(Transport::ALL[0]).await;
        let this = self.answer(transport).await;
        assert!(
            first == this,
            "{}\n--- {}:\n{first}\n--- {transport}:\n{this}",
            self.name,
            Transport::ALL[0]
        );
    }

    async fn answer(&self, transport: Transport) -> String {
        let host = Host::mounted(transport, &[(self.mount, &(self.assistant)())]).await;
        let exchange = host.ask(&self.ask).await;
        let answer: Answer = if self.is_cut { exchange.cut().await } else { exchange.whole().await };
        names::replace(&answer.steady())
    }
}
