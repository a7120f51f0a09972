use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;
use tokio::time::timeout;

use super::assemble::{Bonds, Kit};
use super::closure::{self, BoxError};
use crate::agent_config::{AgentCatalog, AgentConfig, AgentLoader, AgentSummary, Cache, Unavailable};
use crate::engine::agent::NamedAgents;
use crate::engine::config::Config;
use crate::observe::Observers;
use crate::tool::{Tool, Tools};
use crate::{Error, Principal, Result, one_line, panics};

/// The time that a loader may take for an agent with all that it asks, or for a list.
const LONGEST: Duration = Duration::from_secs(5);

/// The agents, and the lists, that are kept in memory.
const KEPT: usize = 1024;

/// The agents of the host's loader.
pub(in crate::engine) struct Loaded {
    loader: Arc<dyn AgentLoader>,
    kit: Kit,
    observers: Observers,
    agents: Cache<(Option<Principal>, Text), Version>,
    lists: Cache<Option<Principal>, Arc<[AgentSummary]>>,
}

/// A version of an agent, and the configurations that it was made of.
#[derive(Clone)]
struct Version {
    configs: Arc<[AgentConfig]>,
    team: Arc<NamedAgents>,
}

impl Loaded {
    /// Checks a catalog.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool cannot be registered, or two have the same name.
    pub(in crate::engine) fn new(
        catalog: AgentCatalog,
        own: &Tools,
        config: &Config,
        bonds: Bonds,
    ) -> Result<Self> {
        let AgentCatalog { loader, tools, providers, placeholders, ttl } = catalog;
        let mut named: BTreeMap<Text, Tool> = BTreeMap::new();
        for tool in tools {
            let name = own.check(tool.clone())?.spec().name.clone();
            if named.insert(name.clone(), tool).is_some() {
                return Err(Error::invalid_tool(name, "the catalog of agents has two tools of this name"));
            }
        }
        let kit = Kit {
            tools: named,
            providers,
            placeholders,
            state: Arc::clone(own.state()),
            limits: Arc::clone(&config.limits),
            defer_above: config.defer_above,
            bonds,
        };
        let (agents, lists) = (Cache::new(ttl, KEPT), Cache::new(ttl, KEPT));
        Ok(Self { loader, kit, observers: config.observers.clone(), agents, lists })
    }

    /// Returns an agent of a user, with all of its configuration. `None` if there is none, or the user may not use it.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent cannot be loaded, and was not before.
    pub(super) async fn team(
        &self,
        name: &str,
        principal: &Principal,
        code: &NamedAgents,
    ) -> Result<Option<Arc<NamedAgents>>, Unavailable> {
        let key = (self.key(principal), name.into());
        let load = |before| async move {
            let loaded = within(self.load(name, principal, code, before)).await;
            loaded.map_err(|error| self.report(name, &*error))
        };
        Ok(self.agents.get(&key, load).await?.map(|version| version.team))
    }

    async fn load(
        &self,
        name: &str,
        principal: &Principal,
        code: &NamedAgents,
        before: Option<Version>,
    ) -> Result<Option<Version>, BoxError> {
        let Some(parts) = closure::load(&*self.loader, name, principal, code).await? else { return Ok(None) };
        let configs = parts.iter().map(|part| &part.config);
        if let Some(before) = before.filter(|before| configs.clone().eq(before.configs.iter())) {
            return Ok(Some(before));
        }
        let team = Arc::new(self.kit.assemble(&parts, code)?);
        let configs: Arc<[AgentConfig]> = configs.cloned().collect();
        let version = configs.first().map(AgentConfig::version).unwrap_or_default();
        tracing::info!(agent = name, version, "an agent was loaded");
        Ok(Some(Version { configs, team }))
    }

    /// Returns the agents that a user may use.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be listed, and were not before.
    pub(super) async fn list(&self, principal: &Principal) -> Result<Arc<[AgentSummary]>, Unavailable> {
        let load = |_| async move {
            let listed = within(self.loader.list(principal)).await;
            listed.map(|listed| Some(listed.into())).map_err(|error| self.report("", &*error))
        };
        Ok(self.lists.get(&self.key(principal), load).await?.unwrap_or_default())
    }

    /// Returns the user as a part of a key: an agent of one must not reach another.
    fn key(&self, principal: &Principal) -> Option<Principal> {
        self.loader.is_per_principal().then(|| principal.clone())
    }

    fn report(&self, agent: &str, error: &(dyn std::error::Error + 'static)) -> Unavailable {
        tracing::error!(agent, error = %one_line::chain(error), "an agent cannot be loaded");
        self.observers.agent_not_loaded(agent, error);
        Unavailable
    }
}

/// Awaits a loader. It may take 5 s, and a panic is an error.
async fn within<T>(load: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    let timed = panics::catch_async("a loader of agents", async { timeout(LONGEST, load).await });
    match timed.await {
        Some(Ok(loaded)) => loaded,
        Some(Err(_)) => Err(io::Error::new(io::ErrorKind::TimedOut, "the loader takes too long").into()),
        None => Err(io::Error::other("the loader panicked").into()),
    }
}
