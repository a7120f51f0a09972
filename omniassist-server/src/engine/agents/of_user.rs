//! Agents by name: those of the builder, and those of the host's loader.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::{Error, Text};

use crate::agent_config::{AgentSummary, RETRY, Unavailable, is_agent_name};
use crate::engine::assistant::Assistant;
use crate::engine::settings::NamedAgent;
use crate::{Principal, RunContext};

impl From<Unavailable> for Error {
    fn from(reason: Unavailable) -> Self {
        match reason {
            Unavailable::Failing | Unavailable::NoSource => Self::agents_unavailable(RETRY),
            Unavailable::Invalid => Self::agent_invalid(RETRY),
        }
    }
}

impl Assistant {
    /// Returns a named agent for a user: one of the builder, or of its [loader](crate::AssistantBuilder::agents). `None` if
    /// there is none, or the loader has none for this user. The conditions of agents of the builder are not asked.
    ///
    /// The handle keeps the version of the agent.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent cannot be loaded, and was not before
    /// ([`is_unavailable`](omniassist_core::Error::is_unavailable)).
    pub async fn agent_for(&self, name: &str, principal: &Principal) -> Result<Option<Self>, Error> {
        Ok(self.find(name, principal).await?)
    }

    async fn find(&self, name: &str, principal: &Principal) -> Result<Option<Self>, Unavailable> {
        if let Some(agent) = self.agent(name) {
            return Ok(Some(agent));
        }
        let Some(configured) = self.setup.configured_agents.as_ref().filter(|_| is_agent_name(name)) else {
            return Ok(None);
        };
        let team = configured.team(name, principal, &self.setup.agents).await?;
        Ok(team.and_then(|team| Self { team: Some(team), ..self.clone() }.member(name)))
    }

    /// Returns an agent, if the sender of a request with these extensions reaches it. A loader without a source has none.
    ///
    /// # Errors
    ///
    /// As for [`agent_for`](Self::agent_for).
    pub(crate) async fn reachable_agent(
        &self,
        name: &str,
        extensions: &Extensions,
    ) -> Result<Option<Self>, Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let is_visible =
            |agent: &Arc<NamedAgent>| agent.is_visible(|| RunContext::of_caller(extensions.clone()));
        let agent = match self.find(name, &principal).await {
            Err(Unavailable::NoSource) => None,
            agent => agent?,
        };
        Ok(agent.filter(|agent| agent.agent.as_ref().is_some_and(is_visible)))
    }

    /// Returns the agents that the sender of a request with these extensions reaches, by name. While the loader fails, they are
    /// those of code, and those that it has listed before.
    pub(crate) async fn reachable_agents(&self, extensions: &Extensions) -> Vec<AgentSummary> {
        let mut agents = BTreeMap::new();
        if let Some(configured) = &self.setup.configured_agents {
            let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
            let listed = configured.list(&principal, &self.setup.agents).await;
            agents.extend(listed.iter().map(|agent| (agent.id.clone(), agent.clone())));
        }
        for agent in self.visible_agents(extensions) {
            if let Some((name, description)) = agent.as_agent() {
                agents.insert(name.clone(), AgentSummary::new(name.clone(), description.clone()));
            }
        }
        agents.into_values().collect()
    }

    /// Returns the agent that a run of a user belongs to: the assistant itself for `None`.
    ///
    /// # Errors
    ///
    /// As for [`agent_for`](Self::agent_for).
    pub(in crate::engine) async fn agent_of_run(
        &self,
        name: Option<&Text>,
        principal: &Principal,
    ) -> Result<Option<Self>, Error> {
        match name {
            Some(name) => self.agent_for(name, principal).await,
            None => Ok(Some(Self { agent: None, team: None, ..self.clone() })),
        }
    }
}
