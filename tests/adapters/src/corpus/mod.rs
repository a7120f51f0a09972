//! Requests whose answers must be the same bytes over all transports, except for volatile headers.
//!
//! Each request is sent to a backend of each transport with its own assistant. The comparison covers the status, the
//! headers, and every byte of the body without its framing. [`Answer::steady`] omits the volatile headers and sorts the
//! others, since frameworks keep them in maps. Values that the server generates for each answer are replaced first, see
//! [`names`].

mod names;
mod requests;

pub(crate) use requests::entries;

use omniassist_server::Assistant;

use crate::host::Host;
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

/// The prefix of the names of comparisons.
pub(crate) const PREFIX: &str = "bytes::";

/// A request and the assistant that answers it.
#[derive(Clone)]
pub(crate) struct Entry {
    name: &'static str,
    /// The path at which the assistant is mounted.
    mount: &'static str,
    ask: Ask,
    assistant: fn() -> Assistant,
    is_cut: bool,
}

impl Entry {
    pub(crate) fn name(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Compares the answer over this transport with the answer over the first transport.
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
