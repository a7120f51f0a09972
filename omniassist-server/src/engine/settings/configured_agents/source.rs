use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;
use tokio::time::timeout;

use super::assemble::{AgentTools, Registry};
use super::dependencies;
use crate::agent_config::{
    AgentCatalog, AgentConfig, AgentConfigError, AgentLoader, AgentSummary, Cache, LogOnce, Unavailable,
    is_agent_name,
};
use crate::engine::settings::agent::NamedAgents;
use crate::engine::settings::config::Config;
use crate::observe::Observers;
use crate::tool::{Tool, Tools};
use crate::{BoxError, Error, Principal, Result, one_line, panics};

/// The time that a loader may take for an agent with all that it asks, or for a list.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The agents, and the lists, that are kept in memory.
const KEPT: usize = 1024;

/// The agents of the host's loader.
pub(in crate::engine) struct ConfiguredAgents {
    pub(super) loader: Arc<dyn AgentLoader>,
    pub(super) registry: Registry,
    observers: Observers,
    agents: Cache<Key, Version>,
    lists: Cache<Option<Principal>, Arc<[AgentSummary]>>,
    /// The last error of each agent that the log has, and with `None` that of the loader.
    log_once: LogOnce<Option<Key>>,
}

/// An agent, of one user or of all.
type Key = (Option<Principal>, Text);

/// A version of an agent, and the configurations that it was made of.
#[derive(Clone)]
struct Version {
    configs: Arc<[AgentConfig]>,
    team: Arc<NamedAgents>,
}

impl ConfiguredAgents {
    /// Checks a catalog.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool cannot be registered, or two have the same name.
    pub(in crate::engine) fn new(
        catalog: AgentCatalog,
        own: &Tools,
        config: &Config,
        tools_of_agents: AgentTools,
    ) -> Result<Self> {
        let AgentCatalog { loader, tools, providers, placeholders, ttl } = catalog;
        let mut named: BTreeMap<Text, Tool> = BTreeMap::new();
        for tool in tools {
            let name = own.check(tool.clone())?.spec().name.clone();
            if named.insert(name.clone(), tool).is_some() {
                return Err(Error::invalid_tool(name, "the catalog of agents has two tools of this name"));
            }
        }
        let registry = Registry {
            tools: named,
            providers,
            placeholders,
            state: Arc::clone(own.state()),
            limits: Arc::clone(&config.limits),
            defer_above: config.defer_above,
            tools_of_agents,
        };
        let (agents, lists) = (Cache::new(ttl, KEPT), Cache::new(ttl, KEPT));
        let (observers, log_once) = (config.observers.clone(), LogOnce::default());
        Ok(Self { loader, registry, observers, agents, lists, log_once })
    }

    /// Returns an agent of a user, with all of its configuration. `None` if there is none, or the user may not use it.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent cannot be loaded, and was not before.
    pub(in crate::engine) async fn team(
        &self,
        name: &str,
        principal: &Principal,
        code: &NamedAgents,
    ) -> Result<Option<Arc<NamedAgents>>, Unavailable> {
        let key = (self.key(principal), name.into());
        let load = |before| async move {
            let loaded = within(self.load(name, principal, code, before)).await;
            if loaded.is_ok() {
                self.log_once.forget(&None);
                self.log_once.forget(&Some((self.key(principal), name.into())));
            }
            loaded.map_err(|error| self.report(self.key(principal), name, &*error))
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
        let Some(parts) = dependencies::load(&*self.loader, name, principal, code).await? else {
            return Ok(None);
        };
        let configs = parts.iter().map(|part| &part.config);
        if let Some(before) = before.filter(|before| configs.clone().eq(before.configs.iter())) {
            return Ok(Some(before));
        }
        let team = Arc::new(self.registry.assemble(&parts, code)?);
        let configs: Arc<[AgentConfig]> = configs.cloned().collect();
        let version = configs.first().map(AgentConfig::version).unwrap_or_default();
        tracing::info!(agent = name, version, "an agent was loaded");
        Ok(Some(Version { configs, team }))
    }

    /// Returns the agents that a user may use, and that code does not have. There are none if they cannot be listed, and were
    /// not before.
    pub(in crate::engine) async fn list(
        &self,
        principal: &Principal,
        code: &NamedAgents,
    ) -> Arc<[AgentSummary]> {
        let load = |_| async move {
            let listed = within(self.loader.list(principal)).await;
            let listed = listed.map_err(|error| self.report(self.key(principal), "", &*error))?;
            self.log_once.forget(&None);
            Ok(Some(self.usable(listed, principal, code).await.into()))
        };
        let listed = self.lists.get(&self.key(principal), load).await;
        listed.ok().flatten().unwrap_or_default()
    }

    /// Leaves out agents whose name is not valid or belongs to code, and those that all users have and that cannot be loaded.
    async fn usable(
        &self,
        mut listed: Vec<AgentSummary>,
        principal: &Principal,
        code: &NamedAgents,
    ) -> Vec<AgentSummary> {
        listed.retain(|agent| is_agent_name(&agent.id) && !self.is_shadowed(&agent.id, code));
        if self.loader.is_per_principal() || listed.len() > KEPT {
            return listed;
        }
        let mut unusable = Vec::new();
        let check = async {
            for agent in &listed {
                if !self.agents.has(&(None, agent.id.clone()))
                    && !matches!(self.team(&agent.id, principal, code).await, Ok(Some(_)))
                {
                    unusable.push(agent.id.clone());
                }
            }
        };
        // After this time, those that were not checked are listed.
        let _ = timeout(TIMEOUT, check).await;
        listed.retain(|agent| !unusable.contains(&agent.id));
        listed
    }

    /// Returns `true` if an agent of code has the name of one of the loader, and warns of it once.
    pub(super) fn is_shadowed(&self, agent: &Text, code: &NamedAgents) -> bool {
        let is_shadowed = code.contains_key(agent);
        if is_shadowed && self.log_once.is_new(Some((None, agent.clone())), "shadowed") {
            tracing::warn!(
                agent = agent.as_str(),
                "a configured agent has the name of one in code, and is not used"
            );
        }
        is_shadowed
    }

    /// Returns the user as a part of a key: an agent of one must not reach another.
    fn key(&self, principal: &Principal) -> Option<Principal> {
        self.loader.is_per_principal().then(|| principal.clone())
    }

    fn report(&self, of: Option<Principal>, agent: &str, error: &(dyn StdError + 'static)) -> Unavailable {
        self.observers.agent_not_loaded(agent, error);
        self.log(of, agent, error)
    }

    /// Logs an error, unless it is the last one already. An error of the loader is one for all agents.
    pub(super) fn log(
        &self,
        of: Option<Principal>,
        agent: &str,
        error: &(dyn StdError + 'static),
    ) -> Unavailable {
        let config = config_error(error);
        let reason = config.map_or(Unavailable::Failing, AgentConfigError::reason);
        let key = (reason == Unavailable::Invalid).then(|| (of, agent.into()));
        let text = one_line::chain(error).to_string();
        let is_logged = config.is_some_and(AgentConfigError::is_logged);
        let fingerprint = config.map(AgentConfigError::fingerprint);
        if !is_logged && self.log_once.is_new(key, fingerprint.ok_or(&text)) {
            tracing::error!(agent, error = %text, "an agent cannot be loaded");
        }
        reason
    }
}

/// Returns the error of a configuration among an error and its sources.
fn config_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a AgentConfigError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(config) = error.downcast_ref() {
            return Some(config);
        }
        next = error.source();
    }
    None
}

/// Awaits a loader. It may take 5 s, and a panic is an error.
async fn within<T>(load: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    let timed = panics::catch_async("a loader of agents", async { timeout(TIMEOUT, load).await });
    match timed.await {
        Some(Ok(loaded)) => loaded,
        Some(Err(_)) => Err(io::Error::new(io::ErrorKind::TimedOut, "the loader takes too long").into()),
        None => Err(io::Error::other("the loader panicked").into()),
    }
}
