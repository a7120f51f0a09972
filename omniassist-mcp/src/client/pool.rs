use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use omniassist_server::Principal;

use super::McpError;
use super::config::Config;
use super::definition::Definition;
use super::link::{Link, Watcher};

/// The users who are connected at the same time.
const MAX_CONNECTED: usize = 64;

/// The users whose lists of tools are kept.
const MAX_LINKS: usize = 1024;

/// The links to one server: one for all users, or one for each if each has credentials.
pub(super) struct Pool {
    config: Arc<Config>,
    watcher: Weak<dyn Watcher>,
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    by_principal: HashMap<Principal, Arc<Link>>,
    is_closed: bool,
}

impl Pool {
    pub(super) fn new(config: Arc<Config>, watcher: Weak<dyn Watcher>) -> Self {
        Self { config, watcher, links: Mutex::default() }
    }

    /// Returns `true` if each user has a link.
    pub(super) fn is_per_principal(&self) -> bool {
        self.config.is_per_principal()
    }

    /// Returns the link for a user, and starts it in this runtime if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if too many users have calls under way, or the pool is closed.
    pub(super) fn link(&self, principal: &Principal) -> Result<Arc<Link>, McpError> {
        let key = self.key(principal);
        let mut links = self.lock();
        if links.is_closed {
            return Err(McpError::disconnected());
        }
        let known = links.by_principal.get(&key).cloned();
        if let Some(link) = known.as_ref().filter(|link| link.is_connected()) {
            return Ok(Arc::clone(link));
        }
        let connected = links.by_principal.values().filter(|link| link.is_connected()).count();
        if connected >= MAX_CONNECTED || (known.is_none() && links.by_principal.len() >= MAX_LINKS) {
            links.remove_oldest().ok_or_else(McpError::busy)?;
        }
        let start = || Arc::new(Link::start(Arc::clone(&self.config), key.clone(), self.watcher.clone()));
        Ok(Arc::clone(links.by_principal.entry(key.clone()).or_insert_with(start)))
    }

    /// Returns all links.
    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.lock().by_principal.values().cloned().collect()
    }

    /// Connects a user again who is connected, with the credentials that there are now.
    pub(super) fn reconnect(&self, principal: &Principal) {
        if let Some(link) = self.lock().by_principal.get(&self.key(principal)) {
            link.reconnect();
        }
    }

    /// Ends the link of a user, and the calls that are under way.
    pub(super) fn end(&self, principal: &Principal) {
        let ended = self.lock().by_principal.remove(&self.key(principal));
        drop(ended);
    }

    /// Returns `true` if the server offers a tool to a user, with exactly this definition.
    pub(super) fn offers(&self, principal: &Principal, tool: &Definition) -> bool {
        let links = self.lock();
        let listing = links.by_principal.get(&self.key(principal)).and_then(|link| link.listing());
        listing.is_some_and(|listing| listing.has(tool))
    }

    /// Ends all links.
    pub(super) fn close(&self) {
        let mut links = self.lock();
        links.is_closed = true;
        for link in std::mem::take(&mut links.by_principal).into_values() {
            link.stop();
        }
    }

    fn key(&self, principal: &Principal) -> Principal {
        if self.is_per_principal() { principal.clone() } else { Principal::anonymous() }
    }

    fn lock(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Links {
    /// Removes the link that was not used for the longest time.
    fn remove_oldest(&mut self) -> Option<Arc<Link>> {
        let unused = self.by_principal.iter().filter(|(_, link)| !link.is_in_use());
        let oldest =
            unused.min_by_key(|(_, link)| link.last_used()).map(|(principal, _)| principal.clone())?;
        self.by_principal.remove(&oldest)
    }
}
