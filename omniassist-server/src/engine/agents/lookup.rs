//! The named agents of an assistant, and the one that a handle stands for.

use std::cell::LazyCell;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::verify::Poster;
use omniassist_core::{RunRequest, Text};

use crate::clock::now_ms;
use crate::engine::Assistant;
use crate::tool::ToolSnapshot;
use crate::{Principal, RunContext};

impl Assistant {
    /// Returns a named [`Agent`](crate::Agent) of the builder, whose runs have its prompt, tools and model. It shares
    /// everything else with this assistant, its runs in progress included. `None` if there is none.
    /// [`agent_for`](Self::agent_for) also finds those of a [loader](crate::agent_config).
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<Self> {
        let agent = Arc::clone(self.setup.agents.get(name)?);
        Some(Self { agent: Some(agent), team: None, ..self.clone() })
    }

    /// Returns the name and the description of this agent. `None` for the assistant itself.
    #[must_use]
    pub fn as_agent(&self) -> Option<(&Text, &Text)> {
        self.agent.as_ref().map(|agent| (&agent.settings.name, &agent.settings.description))
    }

    /// Returns the agents of the builder that the sender of a request with these extensions [sees](crate::Agent::visible_to),
    /// by name.
    pub fn visible_agents(&self, extensions: &Extensions) -> impl Iterator<Item = Self> {
        let caller = LazyCell::new(|| RunContext::of_caller(extensions.clone()));
        let agents = self.setup.agents.values().filter(move |agent| agent.is_visible(|| caller.clone()));
        agents.map(|agent| Self { agent: Some(Arc::clone(agent)), team: None, ..self.clone() })
    }

    /// Returns an agent that may work in the runs of this one: one of the same configuration, or one of code.
    pub(in crate::engine) fn member(&self, name: &str) -> Option<Self> {
        let team = self.team.as_ref().and_then(|team| team.get(name));
        let agent = Arc::clone(team.or_else(|| self.setup.agents.get(name))?);
        Some(Self { agent: Some(agent), ..self.clone() })
    }

    /// Returns `true` if agents may work in the runs of this one.
    pub(in crate::engine) fn has_members(&self) -> bool {
        self.team.is_some() || !self.setup.agents.is_empty()
    }

    /// Returns the name of this agent.
    pub(in crate::engine) fn agent_name(&self) -> Option<&Text> {
        self.agent.as_ref().map(|agent| &agent.settings.name)
    }

    /// Returns `true` if the model of this agent asks another one by a tool of this name.
    fn asks(&self, tool: &Text) -> bool {
        self.agent
            .as_ref()
            .map_or(&self.setup.config.delegates, |agent| &agent.settings.delegates)
            .contains(tool)
    }

    /// Returns the tools of a run that works for another one, or for a tree. It hands nothing off, and asks other agents only
    /// if the depth of the tree allows it.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool that the request declares is refused.
    pub(in crate::engine) fn tools_of_asked(
        &self,
        request: &RunRequest,
        extensions: &Extensions,
        may_ask: bool,
    ) -> Result<ToolSnapshot, omniassist_core::Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let tools = self.tools_for(request, extensions)?.for_principal(principal);
        let tools = self.without_handoffs(&tools);
        Ok(if may_ask { tools } else { tools.hiding(|tool| self.asks(&tool.spec().name)) })
    }

    /// Returns the poster of a request for this agent.
    pub(in crate::engine) fn poster<'a>(&'a self, principal: &'a Principal) -> Poster<'a> {
        let poster = match principal.known_id() {
            Some(id) => Poster::known(id, now_ms()),
            None => Poster::anonymous(now_ms()),
        };
        poster.agent(self.agent_name().map(Text::as_str))
    }
}
