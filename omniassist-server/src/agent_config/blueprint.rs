//! The agents that a configuration describes, whatever its form is.

use std::collections::{BTreeMap, BTreeSet};

use omniassist_core::{Text, check_tool_name};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::config::{AgentConfig, Form};
use super::error::{AgentConfigError, Kind};
use super::graph::{Edge, EdgeKind, Node};
use super::settings::{Settings, check_keys, join, read};

/// The nodes and the edges of the largest graph.
const MAX_SIZE: (usize, usize) = (256, 1024);

/// The types of nodes that later versions have.
const NOT_AVAILABLE: [&str; 3] = ["http", "mcp", "python"];

/// An agent of a configuration.
#[derive(Debug)]
pub(crate) struct Blueprint {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) settings: Settings,
    /// The paths of the name and of the settings.
    pub(crate) name_at: String,
    pub(crate) at: String,
    pub(crate) tools: Vec<Named>,
    pub(crate) delegates: Vec<Named>,
    pub(crate) handoffs: Vec<Named>,
}

/// A name in a configuration, and its path.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: Text,
    pub(crate) at: String,
}

impl Blueprint {
    fn new(name: Text, description: Text, name_at: String, settings: Settings, at: String) -> Self {
        let named = |names: &[Text], key: &str| {
            let path = join(&at, key);
            let names = names.iter().enumerate();
            names.map(|(index, name)| Named { name: name.clone(), at: format!("{path}[{index}]") }).collect()
        };
        let (tools, delegates) = (named(&settings.tools, "tools"), named(&settings.delegates, "delegates"));
        let handoffs = named(&settings.handoffs, "handoffs");
        Self { name, description, settings, name_at, at, tools, delegates, handoffs }
    }

    /// Returns the path of a setting.
    pub(crate) fn path(&self, key: &str) -> String {
        join(&self.at, key)
    }

    fn check(&self) -> Result<(), AgentConfigError> {
        if !is_agent_name(&self.name) {
            return Err(AgentConfigError::new(self.name_at.clone(), Kind::Name(self.name.clone())));
        }
        if self.description.trim().is_empty() {
            return Err(AgentConfigError::new(self.path("description"), Kind::Empty));
        }
        for names in [&self.tools, &self.delegates, &self.handoffs] {
            let mut seen = BTreeSet::new();
            if let Some(twice) = names.iter().find(|named| !seen.insert(&named.name)) {
                return Err(AgentConfigError::new(twice.at.clone(), Kind::Twice(twice.name.clone())));
            }
        }
        Ok(())
    }
}

/// Names that have another meaning in a path or in CopilotKit.
pub(crate) const RESERVED: [&str; 3] = ["default", "stop", "stream"];

/// Returns `true` if an agent can have this name.
pub(crate) fn is_agent_name(name: &str) -> bool {
    check_tool_name(name).is_ok() && !RESERVED.contains(&name)
}

impl AgentConfig {
    /// Returns the agents: first the one that answers, then those that it has in its graph.
    ///
    /// # Errors
    ///
    /// Returns an error with the path of what does not fit.
    pub(crate) fn blueprints(&self) -> Result<Vec<Blueprint>, AgentConfigError> {
        let head = &self.head;
        let agents = match &self.form {
            Form::Short(settings) => vec![Blueprint::new(
                head.id.clone(),
                head.description.clone(),
                "id".to_owned(),
                (**settings).clone(),
                String::new(),
            )],
            Form::Graph { nodes, edges } => self.of_graph(nodes, edges)?,
        };
        agents.iter().try_for_each(Blueprint::check)?;
        let mut names = BTreeSet::new();
        if let Some(twice) = agents.iter().find(|agent| !names.insert(&agent.name)) {
            return Err(AgentConfigError::new(twice.name_at.clone(), Kind::Twice(twice.name.clone())));
        }
        Ok(agents)
    }

    fn of_graph(&self, nodes: &[Node], edges: &[Edge]) -> Result<Vec<Blueprint>, AgentConfigError> {
        for (what, len, most) in [("nodes", nodes.len(), MAX_SIZE.0), ("edges", edges.len(), MAX_SIZE.1)] {
            if len > most {
                return Err(AgentConfigError::new(what, Kind::TooMany { what, most }));
            }
        }
        let mut places = BTreeMap::new();
        let mut agents = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let place = read_node(node, index, &mut agents)?;
            if places.insert(&node.id, place).is_some() {
                return Err(AgentConfigError::new(
                    format!("nodes[{index}].id"),
                    Kind::Twice(node.id.clone()),
                ));
            }
        }
        let mut links = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            links.push(read_edge(edge, index, &places)?);
        }
        let entry = match places.get(&self.head.id) {
            Some(Place::Agent(entry)) => Some(*entry),
            _ => {
                let follows =
                    |agent| links.iter().any(|link| matches!(link.to, Place::Agent(to) if *to == agent));
                let mut first = (0..agents.len()).filter(|agent| !follows(*agent));
                first.next().filter(|_| first.next().is_none())
            }
        };
        let entry = entry.ok_or_else(|| AgentConfigError::new("nodes", Kind::NoEntry))?;
        if let Some(entry) = agents.get_mut(entry) {
            // Others name it by the id of the configuration.
            entry.name = self.head.id.clone();
            "id".clone_into(&mut entry.name_at);
            if !self.head.description.is_empty() {
                entry.description = self.head.description.clone();
            }
        }
        for Link { from, to, kind, at } in links {
            let name = match to {
                Place::Agent(to) => agents.get(*to).map(|to| to.name.clone()).unwrap_or_default(),
                Place::Elsewhere(name) | Place::Tool(name) => name.clone(),
            };
            let Some(from) = agents.get_mut(from) else { continue };
            let names = match (to, kind) {
                (Place::Tool(_), _) => &mut from.tools,
                (_, EdgeKind::Delegate) => &mut from.delegates,
                (_, EdgeKind::Handoff) => &mut from.handoffs,
            };
            names.push(Named { name, at });
        }
        agents.swap(0, entry);
        Ok(agents)
    }
}

/// The meaning of a node.
enum Place {
    /// An agent, by its index.
    Agent(usize),
    /// The name of an agent that is not in the graph.
    Elsewhere(Text),
    /// The name of a tool.
    Tool(Text),
}

/// An edge from an agent.
struct Link<'a> {
    from: usize,
    to: &'a Place,
    kind: EdgeKind,
    at: String,
}

fn read_edge<'a>(
    edge: &Edge,
    index: usize,
    places: &'a BTreeMap<&Text, Place>,
) -> Result<Link<'a>, AgentConfigError> {
    let at = |key: &str| format!("edges[{index}].{key}");
    let place = |id: &Text, key| {
        let known = || places.keys().map(|id| (*id).clone()).collect();
        let unknown = || Kind::Unknown { what: "node", name: id.clone(), known: known() };
        places.get(id).ok_or_else(|| AgentConfigError::new(at(key), unknown()))
    };
    let (source, to) = (place(&edge.source, "source")?, place(&edge.target, "target")?);
    let Place::Agent(from) = *source else {
        return Err(AgentConfigError::new(at("source"), Kind::Edge));
    };
    if edge.source == edge.target {
        return Err(AgentConfigError::new(at("target"), Kind::Edge));
    }
    Ok(Link { from, to, kind: edge.kind(), at: at("target") })
}

#[derive(Deserialize)]
struct ToolData {
    name: Text,
}

fn read_node(node: &Node, index: usize, agents: &mut Vec<Blueprint>) -> Result<Place, AgentConfigError> {
    let at = format!("nodes[{index}].data");
    let data = match &node.data {
        Value::Null => Value::Object(Map::new()),
        data => data.clone(),
    };
    match &*node.kind {
        "agent" => {
            check_keys(&data, &Settings::KEYS, &at, false)?;
            let settings: Settings = read(data, &at)?;
            if let Some(name) = settings.stands_for {
                return Ok(Place::Elsewhere(name));
            }
            let (name, name_at) = match &settings.name {
                Some(name) => (name.clone(), join(&at, "name")),
                None => (node.id.clone(), format!("nodes[{index}].id")),
            };
            let description = settings.description.clone().unwrap_or_default();
            agents.push(Blueprint::new(name, description, name_at, settings, at));
            Ok(Place::Agent(agents.len() - 1))
        }
        "tool" => {
            check_keys(&data, &["name"], &at, false)?;
            read::<ToolData>(data, &at).map(|tool| Place::Tool(tool.name))
        }
        kind => {
            let reason = if NOT_AVAILABLE.contains(&kind) { Kind::NotAvailable } else { Kind::UnknownType };
            Err(AgentConfigError::new(format!("nodes[{index}].type"), reason(node.kind.clone())))
        }
    }
}
