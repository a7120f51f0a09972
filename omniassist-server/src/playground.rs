//! The playground: a page for developers at `GET /playground` below the mount, with the cargo feature `playground`.
//!
//! The page talks to the assistant through the [widget](crate::widget) and shows the events of each run as they arrive. A
//! developer picks an agent, sets options of the model, changes the arguments of a call and runs it again, replays a recorded
//! run, and exports a test for [`testing`](crate::testing).
//!
//! ```
//! use omniassist_server::Assistant;
//! use omniassist_server::playground::Playground;
//! # use omniassist_server::provider::from_fn;
//! # let provider = from_fn("none", |_| futures_util::stream::empty());
//! let assistant = Assistant::builder(provider).playground(Playground::new()).allow_anonymous().build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! # The member `playground` of a run
//!
//! The page adds a member `playground` to the body of `POST /`: `{"model", "system", "toolChoice", "options": {"temperature",
//! "topP", "maxOutputTokens", "reasoningEffort", "extra"}, "turns": [{"text", "calls": [{"name", "arguments"}]}]}`, each of
//! which may be absent. `turns` are played instead of the first model calls, and the model goes on after them: so the tools run
//! with changed arguments. Approvals, guards and limits apply to such calls as to those of a model.
//!
//! The member has an effect only in a request that the playground admits; see [`Playground`]. In other requests it is an
//! unknown member.

use http::request::Parts;

use crate::access::is_from_this_machine;

/// The mark of a request that the playground admits, in its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admitted;

/// The settings of the playground, for [`AssistantBuilder::playground`](crate::AssistantBuilder::playground).
///
/// By default it admits requests of this machine only: the [peer](crate::PeerAddr) has a loopback address, the `Host` is
/// `localhost` or a loopback address, and no proxy has forwarded the request (`Forwarded`, `X-Forwarded-For`,
/// `X-Forwarded-Host`, `X-Real-IP` or `Via`). The peer alone is not enough, since behind a proxy on the same machine each peer
/// is the proxy. Other requests are answered 403 `playground_not_admitted`, also if the adapter does not provide the address of
/// the peer.
///
/// A proxy on this machine that sends no such header and replaces the `Host` cannot be recognised. Do not enable the playground
/// behind one.
#[derive(Debug, Clone, Default)]
#[must_use = "settings do nothing until they are given to a builder"]
pub struct Playground {
    any_peer: bool,
}

impl Playground {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Admits requests from everywhere. Default: requests of this machine only.
    ///
    /// Each caller who may run the assistant can then choose its model and the options of the model, which the application
    /// pays for, and can call its tools without a model. Use it in a network of developers only.
    pub fn allow_any_peer(mut self) -> Self {
        self.any_peer = true;
        self
    }

    /// Returns `true` if a request may use the playground.
    pub(crate) fn admits(&self, parts: &Parts) -> bool {
        self.any_peer || is_from_this_machine(parts)
    }
}
