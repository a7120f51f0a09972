//! Agents from configurations.

use std::collections::BTreeMap;
use std::sync::Arc;

use omniassist_core::tree::AgentBudget;
use omniassist_core::{Limits, Text};

use super::dependencies::Part;
use crate::agent_config::{AgentConfigError, Blueprint, Kind, Named, fill};
use crate::engine::settings::agent::{self, Agent, NamedAgent, NamedAgents};
use crate::provider::LlmProvider;
use crate::tool::{DeferAbove, StateMap, Tool};

/// The things that configurations can name, and those that all agents share.
pub(super) struct Registry {
    pub(super) tools: BTreeMap<Text, Tool>,
    pub(super) providers: BTreeMap<Text, Arc<dyn LlmProvider>>,
    pub(super) placeholders: BTreeMap<Text, Text>,
    pub(super) state: Arc<StateMap>,
    pub(super) limits: Arc<Limits>,
    pub(super) defer_above: DeferAbove,
    pub(super) tools_of_agents: AgentTools,
}

/// The functions that return the tools by which a model asks an agent, and hands a conversation off to it.
#[derive(Clone, Copy)]
pub(in crate::engine) struct AgentTools {
    pub(in crate::engine) ask: fn(&Agent) -> Tool,
    pub(in crate::engine) hand_off: fn(&Agent) -> Tool,
}

impl Registry {
    /// Makes the agents of configurations.
    ///
    /// # Errors
    ///
    /// Returns an error that names the configuration and the path of what does not fit.
    pub(super) fn assemble(
        &self,
        parts: &[Part],
        code: &NamedAgents,
    ) -> Result<NamedAgents, AgentConfigError> {
        let mut team = NamedAgents::new();
        for Part { config, agents } in parts {
            for (at, blueprint) in agents.iter().enumerate() {
                // Clients reach the agent of a configuration, and not the others of its graph.
                let is_internal = at > 0 || config.is_internal();
                let agent = self.agent(blueprint, is_internal).map_err(|error| config.name_in(error))?;
                let is_taken = code.contains_key(&blueprint.name);
                if team.insert(blueprint.name.clone(), Arc::new(agent)).is_some() || is_taken {
                    let twice = Kind::Twice(blueprint.name.clone());
                    let error = AgentConfigError::new(blueprint.name_at.clone(), twice);
                    return Err(config.name_in(error));
                }
            }
        }
        for Part { config, agents } in parts {
            for blueprint in agents {
                self.bind(blueprint, &team, code).map_err(|error| config.name_in(error))?;
            }
        }
        Ok(team)
    }

    fn agent(&self, blueprint: &Blueprint, is_internal: bool) -> Result<NamedAgent, AgentConfigError> {
        let Blueprint { name, description, settings, .. } = blueprint;
        let mut agent = Agent::new(name.clone(), description.clone());
        if let Some(prompt) = &settings.prompt {
            let failed = |kind| AgentConfigError::new(blueprint.path("prompt"), kind);
            agent = agent.system_prompt(fill(prompt, &self.placeholders).map_err(failed)?);
        }
        if let Some(name) = &settings.provider {
            let provider = self.providers.get(name);
            let unknown = || unknown("provider", name, self.providers.keys(), blueprint.path("provider"));
            agent = agent.provider(Arc::clone(provider.ok_or_else(unknown)?));
        }
        if let Some(model) = &settings.model {
            agent = agent.model(model.clone());
        }
        if let Some(steps) = settings.max_steps {
            agent = agent.max_steps(steps.get());
        }
        if let Some(budget) = &settings.budget {
            agent = agent.budget(AgentBudget::from(budget));
        }
        if is_internal {
            agent = agent.internal();
        }
        let names = |named: &[Named]| named.iter().map(|named| named.name.clone()).collect::<Vec<_>>();
        agent = agent.delegates(names(&blueprint.delegates)).handoffs(names(&blueprint.handoffs));
        let refused = |source| AgentConfigError::new(blueprint.at.clone(), Kind::Refused).with_source(source);
        let agent = agent.register(&self.state, &self.limits, self.defer_above).map_err(refused)?;
        for named in &blueprint.tools {
            let tool = self.tools.get(&named.name);
            let unknown = || unknown("tool", &named.name, self.tools.keys(), named.at.clone());
            register(&agent, tool.ok_or_else(unknown)?.clone(), named)?;
        }
        Ok(agent)
    }

    /// Gives an agent the tools by which it asks others, and hands off to them.
    fn bind(
        &self,
        blueprint: &Blueprint,
        team: &NamedAgents,
        code: &NamedAgents,
    ) -> Result<(), AgentConfigError> {
        let Some(agent) = team.get(&blueprint.name) else { return Ok(()) };
        let ask = |agent: &Agent| (self.tools_of_agents.ask)(agent).timeout(self.limits.run_timeout);
        for named in &blueprint.delegates {
            register(agent, tool_of(named, team, code, ask)?, named)?;
        }
        for named in &blueprint.handoffs {
            register(agent, tool_of(named, team, code, self.tools_of_agents.hand_off)?, named)?;
        }
        Ok(())
    }
}

/// Returns the tool for another agent. One of a configuration works for each caller that has the first, and its tool does not
/// hold it, so that agents that ask each other are freed.
fn tool_of(
    named: &Named,
    team: &NamedAgents,
    code: &NamedAgents,
    tool: impl Fn(&Agent) -> Tool,
) -> Result<Tool, AgentConfigError> {
    match (team.get(&named.name), code.get(&named.name)) {
        (Some(other), _) => Ok(tool(&other.settings)),
        (None, Some(other)) => Ok(agent::tool_of(other, tool)),
        (None, None) => Err(unknown("agent", &named.name, code.keys(), named.at.clone())),
    }
}

fn unknown<'a>(
    what: &'static str,
    name: &Text,
    known: impl Iterator<Item = &'a Text>,
    at: String,
) -> AgentConfigError {
    AgentConfigError::new(at, Kind::Unknown { what, name: name.clone(), known: known.cloned().collect() })
}

fn register(agent: &NamedAgent, tool: Tool, named: &Named) -> Result<(), AgentConfigError> {
    let refused = |source| AgentConfigError::new(named.at.clone(), Kind::Refused).with_source(source);
    agent.tools.register(tool).map_err(refused)
}
