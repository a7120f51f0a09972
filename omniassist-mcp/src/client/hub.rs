use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_server::RunContext;
use omniassist_server::tool::source::{SourceSlot, SourceState, WithheldTool};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::McpError;
use super::app::Documents;
use super::call;
use super::config::Config;
use super::definition::{Definition, PinDigest};
use super::link::{Link, Watcher};
use super::offered;
use super::pins::Checked;
use super::pool::Pool;
use crate::sync::lock;

/// The time that a run waits for the tools of a server that it needs, or of its user.
const READY_TIMEOUT: Duration = Duration::from_secs(5);

/// One attachment of a server: its links, and the tools that it offers.
pub(super) struct Hub {
    config: Arc<Config>,
    slot: SourceSlot,
    pool: Arc<Pool>,
    documents: Documents,
    is_started: AtomicBool,
    changed: Notify,
    /// The tools that the registry has.
    offer: Mutex<Option<Offer>>,
    /// The number of the newest list that is offered.
    offered: watch::Sender<u64>,
}

#[derive(Clone, PartialEq)]
struct Offer {
    digests: Vec<PinDigest>,
    withheld: Vec<WithheldTool>,
}

impl Hub {
    pub(super) fn new(config: Arc<Config>, slot: SourceSlot) -> Arc<Self> {
        Arc::new_cyclic(|hub: &Weak<Self>| Self {
            pool: Arc::new(Pool::new(Arc::clone(&config), hub.clone())),
            config,
            slot,
            documents: Documents::default(),
            is_started: AtomicBool::new(false),
            changed: Notify::new(),
            offer: Mutex::default(),
            offered: watch::Sender::new(0),
        })
    }

    /// Connects, if there is a runtime and it has not begun.
    pub(super) fn start(self: &Arc<Self>) {
        let Ok(runtime) = Handle::try_current() else { return };
        if self.slot.is_detached() || self.is_started.swap(true, Ordering::Relaxed) {
            return;
        }
        runtime.spawn(offer_changes(Arc::clone(self)));
        if self.pool.is_per_principal() {
            self.slot.set_state(SourceState::Ready);
        } else if let Err(error) = self.pool.link(&Default::default()) {
            self.failed(&error);
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the documents of apps.
    pub(super) fn documents(&self) -> &Documents {
        &self.documents
    }

    pub(super) fn is_detached(&self) -> bool {
        self.slot.is_detached()
    }

    /// Waits for the tools of a caller.
    pub(super) async fn ready(&self, caller: &RunContext) -> bool {
        if !self.config.is_required && !self.pool.is_per_principal() {
            return true;
        }
        let Ok(link) = self.pool.link(caller.principal()) else { return !self.config.is_required };
        let is_ready = timeout(READY_TIMEOUT, self.is_offered(&link)).await.unwrap_or(false);
        is_ready || !self.config.is_required
    }

    async fn is_offered(&self, link: &Link) -> bool {
        match link.ready().await {
            Ok(ready) => {
                let mut offered = self.offered.subscribe();
                offered.wait_for(|offered| *offered >= ready.listing.number).await.is_ok()
            }
            Err(error) => {
                // The next run has no tools of a server that its user cannot call.
                if error.is_unauthenticated() {
                    link.forget_listing();
                }
                false
            }
        }
    }

    /// Offers the tools of all lists. If users have different definitions of one tool, one of them is offered, to those who
    /// have it.
    fn offer(&self) {
        let mut listings: Vec<_> = self.pool.links().iter().filter_map(|link| link.listing()).collect();
        listings.sort_by_key(|listing| listing.number);
        let Some(newest) = listings.last().map(|listing| listing.number) else { return };
        let mut tools: BTreeMap<&Text, &Arc<Definition>> = BTreeMap::new();
        let mut withheld = Vec::new();
        for tool in listings.iter().flat_map(|listing| &listing.tools) {
            let known = tools.entry(&tool.name).or_insert(tool);
            if known.digest != tool.digest {
                let reason = "the server offers another definition of it to another user";
                withheld.push(WithheldTool::new(tool.name.clone(), reason));
            }
        }
        withheld.extend(listings.iter().flat_map(|listing| listing.withheld.iter().cloned()));
        let tools: Vec<_> = tools.into_values().cloned().collect();
        let checked = self.config.pins.check(&self.config.name, &tools);
        let mut offered_tools = Vec::new();
        for (definition, checked) in tools.iter().zip(checked) {
            match checked {
                Checked::Offered => offered_tools.push(definition),
                Checked::Withheld(reason) => {
                    withheld.push(WithheldTool::new(definition.name.clone(), reason));
                }
            }
        }
        let offer = Offer { digests: offered_tools.iter().map(|tool| tool.digest).collect(), withheld };
        let last = lock(&self.offer).replace(offer.clone());
        match last.is_some_and(|last| last == offer) {
            // The registry need not check thousands of schemas again.
            true => self.slot.set_state(SourceState::Ready),
            false => {
                // The registry withholds one whose name a tool of the server has.
                let resources =
                    self.config.offers_resources.then(|| offered::tools(&self.config, &self.pool));
                let own = offered_tools.into_iter().map(|tool| call::tool(tool, &self.config, &self.pool));
                self.slot.offer_with(own.chain(resources.into_iter().flatten()), offer.withheld);
            }
        }
        self.offered.send_modify(|offered| *offered = newest.max(*offered));
    }
}

impl Watcher for Hub {
    fn listed(&self) {
        self.changed.notify_one();
    }

    fn lost(&self) {
        if !self.pool.is_per_principal() {
            self.slot.set_state(SourceState::Connecting);
        }
    }

    fn failed(&self, error: &McpError) {
        let source = self.config.name.as_str();
        if error.is_unauthenticated() && self.pool.is_per_principal() {
            tracing::debug!(source, "a user has no credentials that an MCP server accepts");
        } else {
            tracing::warn!(source, error = ?error, "an MCP server cannot be used");
        }
        if !self.pool.is_per_principal() {
            self.slot.set_state(SourceState::Unavailable { reason: error.text_with_sources().into() });
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.pool.close();
    }
}

/// The end of [`offer_changes`]. If its runtime has ended, the next run starts it again in another.
struct Ended(Arc<Hub>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.is_started.store(false, Ordering::Relaxed);
    }
}

/// Offers the tools of a hub when they change, until it is detached.
async fn offer_changes(hub: Arc<Hub>) {
    let _ended = Ended(Arc::clone(&hub));
    let mut accepted = hub.config.pins.accepted();
    let detached = hub.slot.detached();
    tokio::pin!(detached);
    loop {
        tokio::select! {
            () = &mut detached => break,
            () = hub.changed.notified() => {}
            _ = accepted.changed() => {}
        }
        let offered = Arc::clone(&hub);
        // Thousands of schemas take some time, and pins can be in a file.
        if let Err(error) = tokio::task::spawn_blocking(move || offered.offer()).await {
            tracing::error!(%error, "the tools of an MCP server are not offered");
        }
    }
    hub.pool.close();
}
