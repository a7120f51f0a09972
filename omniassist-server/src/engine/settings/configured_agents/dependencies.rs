//! A configuration, and those of the agents that it asks.

use std::collections::BTreeSet;

use omniassist_core::Text;

use crate::agent_config::{
    AgentConfig, AgentConfigError, AgentLoader, Blueprint, Kind, Named, is_agent_name,
};
use crate::engine::settings::agent::NamedAgents;
use crate::{BoxError, Principal};

/// The configurations of one agent with those that it asks, and those that they ask.
const MAX_PARTS: usize = 32;

/// A configuration with its agents.
pub(super) struct Part {
    pub(super) config: AgentConfig,
    pub(super) agents: Vec<Blueprint>,
}

impl Part {
    fn new(config: AgentConfig, id: &str) -> Result<Self, AgentConfigError> {
        config.check_id(id)?;
        let agents = config.blueprints().map_err(|error| config.name_in(error))?;
        Ok(Self { config, agents })
    }
}

/// Loads the configuration of an agent, and of all that may work in its runs. `None` if the user has no such agent.
///
/// # Errors
///
/// Returns an error if the loader fails, or a configuration does not fit.
pub(super) async fn load(
    loader: &dyn AgentLoader,
    id: &str,
    principal: &Principal,
    code: &NamedAgents,
) -> Result<Option<Vec<Part>>, BoxError> {
    let Some(config) = loader.load(id, principal).await? else { return Ok(None) };
    let mut parts = vec![Part::new(config, id)?];
    let mut at = 0;
    while let Some(asked) = parts.get(at).map(|part| elsewhere(part, &parts, code)) {
        for named in asked {
            if parts.iter().any(|part| part.config.id() == &*named.name) {
                continue;
            }
            let failed = |kind| {
                let error = AgentConfigError::new(named.at.clone(), kind);
                match parts.get(at) {
                    Some(part) => part.config.name_in(error),
                    None => error,
                }
            };
            if parts.len() >= MAX_PARTS {
                let what = "configurations of agents that ask each other";
                return Err(failed(Kind::TooMany { what, most: MAX_PARTS }).into());
            }
            let config = match is_agent_name(&named.name) {
                true => loader.load(&named.name, principal).await?,
                false => None,
            };
            let Some(config) = config else {
                let known = known(loader, principal, code, &parts).await;
                return Err(failed(Kind::Unknown { what: "agent", name: named.name, known }).into());
            };
            parts.push(Part::new(config, &named.name)?);
        }
        at += 1;
    }
    Ok(Some(parts))
}

/// Returns the names of the agents that a configuration can ask, for an error.
async fn known(
    loader: &dyn AgentLoader,
    principal: &Principal,
    code: &NamedAgents,
    parts: &[Part],
) -> Vec<Text> {
    let mut known: BTreeSet<Text> = code.keys().cloned().collect();
    known.extend(parts.iter().map(|part| part.config.id().into()));
    let listed = loader.list(principal).await.unwrap_or_default();
    known.extend(listed.into_iter().map(|agent| agent.id));
    known.into_iter().collect()
}

/// Returns the names of agents that a configuration asks, and that are neither in its graph nor in code.
fn elsewhere(part: &Part, parts: &[Part], code: &NamedAgents) -> Vec<Named> {
    let is_here = |name: &Text| {
        part.agents.iter().any(|agent| agent.name == *name)
            || code.contains_key(name)
            || parts.iter().any(|part| part.config.id() == &**name)
    };
    let names = part.agents.iter().flat_map(|agent| agent.delegates.iter().chain(&agent.handoffs));
    names.filter(|named| !is_here(&named.name)).cloned().collect()
}
