use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use omniassist_server::Principal;

use super::McpError;
use super::config::Config;
use super::definition::Definition;
use super::elicitation::HeldCalls;
use super::link::{HeldCall, Link, Used, Watcher};
use crate::sync::lock;

/// The users who are connected at the same time.
const MAX_CONNECTED: usize = 64;

/// The users whose lists of tools are kept.
const MAX_LINKS: usize = 1024;

/// The links to one server: one for all users, or one for each if each has credentials.
pub(super) struct Pool {
    config: Arc<Config>,
    watcher: Weak<dyn Watcher>,
    links: Mutex<Links>,
    /// The calls that wait for their users.
    pub(super) held: HeldCalls<HeldCall>,
}

#[derive(Default)]
struct Links {
    by_principal: HashMap<Principal, Arc<Link>>,
    is_closed: bool,
}

impl Pool {
    pub(super) fn new(config: Arc<Config>, watcher: Weak<dyn Watcher>) -> Self {
        Self { config, watcher, links: Mutex::default(), held: HeldCalls::default() }
    }

    /// Returns `true` if each user has a link.
    pub(super) fn is_per_principal(&self) -> bool {
        self.config.is_per_principal()
    }

    /// Returns the link for a user, which is in use until the result is dropped. It is started in this runtime if there is
    /// none, or if the runtime of the earlier one has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if too many users have calls under way, or the pool is closed.
    pub(super) fn link(&self, principal: &Principal) -> Result<Used, McpError> {
        let key = self.key(principal);
        let mut links = self.lock();
        if links.is_closed {
            return Err(McpError::disconnected());
        }
        let known = links.by_principal.get(&key).filter(|link| !link.is_stopped()).cloned();
        if let Some(link) = known.as_ref().filter(|link| !link.is_at_rest()) {
            return Ok(Used::new(Arc::clone(link)));
        }
        links.by_principal.retain(|_, link| !link.is_stopped());
        if links.by_principal.values().filter(|link| !link.is_at_rest()).count() >= MAX_CONNECTED {
            links.remove_oldest(|link| !link.is_at_rest()).ok_or_else(McpError::busy)?;
        }
        if known.is_none() && links.by_principal.len() >= MAX_LINKS {
            links.remove_oldest(|_| true).ok_or_else(McpError::busy)?;
        }
        let link = match known {
            Some(link) => {
                link.wake();
                link
            }
            None => {
                let (config, watcher) = (Arc::clone(&self.config), self.watcher.clone());
                let link = Arc::new(Link::start(config, key.clone(), watcher));
                links.by_principal.insert(key, Arc::clone(&link));
                link
            }
        };
        Ok(Used::new(link))
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
        if let Some(link) = ended {
            // A call that is under way keeps the link.
            link.stop();
        }
    }

    /// Returns `true` if the server offers a tool to a user, with exactly this definition.
    pub(super) fn offers(&self, principal: &Principal, tool: &Definition) -> bool {
        let links = self.lock();
        let listing = links.by_principal.get(&self.key(principal)).and_then(|link| link.listing());
        listing.is_some_and(|listing| listing.has(tool))
    }

    /// Returns `true` if the server has offered its tools to a user.
    pub(super) fn is_listed(&self, principal: &Principal) -> bool {
        let links = self.lock();
        links.by_principal.get(&self.key(principal)).is_some_and(|link| link.listing().is_some())
    }

    /// Ends all links.
    pub(super) fn close(&self) {
        self.held.clear();
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
        lock(&self.links)
    }
}

impl Links {
    /// Removes one of these links: the one that was not used for the longest time.
    fn remove_oldest(&mut self, is_one: impl Fn(&Link) -> bool) -> Option<Arc<Link>> {
        let unused = self.by_principal.iter().filter(|(_, link)| !link.is_in_use() && is_one(link));
        let oldest =
            unused.min_by_key(|(_, link)| link.last_used()).map(|(principal, _)| principal.clone())?;
        self.by_principal.remove(&oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;
    use crate::client::McpAuth;

    #[tokio::test(start_paused = true)]
    async fn a_user_who_is_being_connected_counts() {
        let auth = McpAuth::per_principal(async |user: Principal| match user.id() {
            "eve" => None,
            _ => std::future::pending().await,
        });
        let pool = Pool::new(Arc::new(Config::unreachable(auth)), Weak::<()>::new());
        // This user has no connection, and gets none.
        drop(pool.link(&Principal::new("eve")).ok().unwrap());
        sleep(Duration::from_secs(1)).await;
        let user = |number: usize| Principal::new(format!("user-{number}"));
        let mut used: Vec<_> =
            (0..MAX_CONNECTED).map(|number| pool.link(&user(number)).ok().unwrap()).collect();
        assert!(pool.link(&user(64)).is_err());
        used.pop();
        assert!(pool.link(&user(64)).is_ok(), "one makes way");
        assert_eq!(pool.links().len(), MAX_CONNECTED + 1);
    }
}
