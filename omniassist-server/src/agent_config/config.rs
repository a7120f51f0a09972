use std::fmt;
#[cfg(feature = "agent-files")]
use std::path::Path;
use std::path::PathBuf;

use omniassist_core::Text;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::error::{AgentConfigError, Kind};
use super::graph::{Edge, Node};
use super::settings::{Settings, check_keys, read};
use crate::one_line;

/// The configuration of a named agent, as data: a file, or rows of a table.
///
/// It names tools, providers and agents that code has registered, and has no commands, URLs or keys. There are two forms.
/// The graph has nodes and edges, as editors such as React Flow store them; what they add (`position`, `viewport`, other keys
/// of `data`) is ignored:
///
/// ```
/// use omniassist_server::agent_config::AgentConfig;
///
/// let config = AgentConfig::from_json(r#"{
///     "id": "sales", "version": 3, "description": "Sells lamps.",
///     "nodes": [
///         {"id": "a", "type": "agent", "position": {"x": 0, "y": 0}, "data": {"prompt": "You sell lamps.", "maxSteps": 8}},
///         {"id": "t", "type": "tool", "data": {"name": "discount"}},
///         {"id": "b", "type": "agent", "data": {"name": "stock", "description": "Counts lamps.", "budget": {"tokens": 9000}}}
///     ],
///     "edges": [
///         {"source": "a", "target": "t"},
///         {"source": "a", "target": "b", "data": {"kind": "delegate"}}
///     ]
/// }"#)?;
/// assert_eq!((config.id(), config.version()), ("sales", "3"));
/// # Ok::<(), omniassist_server::agent_config::AgentConfigError>(())
/// ```
///
/// The short form is for people. A key that has no meaning is an error in it:
///
/// ```
/// # use omniassist_server::agent_config::AgentConfig;
/// let config = AgentConfig::from_json(r#"{
///     "id": "sales", "description": "Sells lamps.", "prompt": "You sell lamps.", "tools": ["discount"], "delegates": ["stock"]
/// }"#)?;
/// # assert_eq!(config.description(), "Sells lamps.");
/// # Ok::<(), omniassist_server::agent_config::AgentConfigError>(())
/// ```
///
/// # Keys
///
/// | key | content |
/// |---|---|
/// | `id` | the name of the agent in URLs; for a file it is that of the file, and can be left out |
/// | `version` | text or a number, for logs. Default: empty |
/// | `name` | a title for people. Default: none |
/// | `description` | what the agent does, for users and for the models that ask it |
/// | `internal` | `true` hides the agent from clients. Default: `false` |
/// | `nodes`, `edges` | the graph, at most 256 and 1,024 |
///
/// The `data` of a node of type `agent`, and the short form, have these:
///
/// | key | content |
/// |---|---|
/// | `prompt` | the system prompt, with `{{placeholders}}` of the [catalog](super::AgentCatalog::placeholder). Default: none |
/// | `provider` | the name of a [provider](super::AgentCatalog::provider) of the catalog. Default: that of the assistant |
/// | `model` | the model to request. Default: as for [`Agent::model`](crate::Agent::model) |
/// | `maxSteps` | the model calls of one question. Default: as for the assistant |
/// | `budget` | `tokens`, `modelCalls` and `seconds` each time that another agent asks this one. Default: [`AgentBudget::new`](crate::AgentBudget::new) |
/// | `tools` | names of [tools](super::AgentCatalog::tool) of the catalog. Default: none |
/// | `delegates` | names of agents that it asks: those of code, and other configurations of the loader. Default: none |
/// | `handoffs` | names of agents to which it leaves the conversation, as for `delegates`. Default: none |
/// | `name`, `description` | of a node: the name by which others ask it (default: the id of the node), and what it does |
/// | `ref` | of a node: the agent of code, or the other configuration, that it stands for |
///
/// A node of type `tool` has the `name` of a tool. An edge leads from an agent to a tool or to another agent: one that it asks,
/// or with `data.kind` `handoff` one to which it leaves the conversation. The agent that answers is the node with the id of the
/// configuration, or else the only one to which no edge leads.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    pub(super) head: Head,
    pub(super) form: Form,
    file: Option<Source>,
}

/// The file of a configuration, with a hash of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    path: PathBuf,
    content: u64,
}

/// The keys that both forms have.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    pub(super) id: Text,
    version: Version,
    pub(super) name: Option<Text>,
    pub(super) description: Text,
    internal: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Short(Box<Settings>),
    Graph { nodes: Vec<Node>, edges: Vec<Edge> },
}

/// A version: text, or a number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Version(Text);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Version, E> {
                Ok(Version(text.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Version, E> {
                Ok(Version(number.to_string().into()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The keys of [`Head`].
const HEAD: [&str; 5] = ["id", "version", "name", "description", "internal"];

impl AgentConfig {
    /// Creates a configuration from the nodes and edges of a graph, such as the rows of a table.
    #[must_use]
    pub fn graph(id: impl Into<Text>, nodes: Vec<Node>, edges: Vec<Edge>) -> Self {
        let head = Head { id: id.into(), ..Head::default() };
        Self { head, form: Form::Graph { nodes, edges }, file: None }
    }

    /// Sets the version, for logs. Default: empty.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Text>) -> Self {
        self.head.version = Version(version.into());
        self
    }

    /// Sets the title for people. Default: none.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Text>) -> Self {
        self.head.name = Some(name.into());
        self
    }

    /// Sets the description. Default: that of the node of the agent.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<Text>) -> Self {
        self.head.description = description.into();
        self
    }

    /// Hides the agent from clients, so that only other agents reach it. Default: clients see it.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.head.internal = true;
        self
    }

    /// Reads a configuration in JSON.
    ///
    /// # Errors
    ///
    /// Returns an error with the JSON path of what does not fit. The names of tools, providers and agents are checked later,
    /// by the assistant that has them.
    pub fn from_json(text: &str) -> Result<Self, AgentConfigError> {
        Self::from_value(json(text)?)
    }

    /// Reads a configuration in TOML.
    ///
    /// # Errors
    ///
    /// As for [`from_json`](Self::from_json).
    #[cfg(feature = "agent-files")]
    pub fn from_toml(text: &str) -> Result<Self, AgentConfigError> {
        Self::from_value(toml(text)?)
    }

    pub(super) fn from_value(value: Value) -> Result<Self, AgentConfigError> {
        let Value::Object(mut rest) = value else {
            return read::<Map<String, Value>>(value, "").map(|_| Self::graph("", Vec::new(), Vec::new()));
        };
        let head: Map<_, _> = HEAD.iter().filter_map(|key| rest.remove_entry(*key)).collect();
        let head: Head = read(Value::Object(head), "")?;
        let form = if rest.contains_key("nodes") || rest.contains_key("edges") {
            let keys = Value::Object(rest);
            check_keys(
                &keys,
                &["nodes", "edges", "id", "version", "name", "description", "internal"],
                "",
                false,
            )?;
            let graph: Graph = read(keys, "")?;
            Form::Graph { nodes: graph.nodes, edges: graph.edges }
        } else {
            let keys = Value::Object(rest);
            // The title and the description are part of the head, and only a node stands for another agent.
            let [_, _, own @ .., _] = Settings::KEYS;
            check_keys(&keys, &[&HEAD[..], &own].concat(), "", true)?;
            Form::Short(Box::new(read(keys, "")?))
        };
        Ok(Self { head, form, file: None })
    }

    /// Sets the file, whose name gives the id.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration has another id.
    #[cfg(feature = "agent-files")]
    pub(super) fn of_file(mut self, id: &str, file: &Path, content: u64) -> Result<Self, AgentConfigError> {
        if self.head.id.is_empty() {
            self.head.id = id.into();
        }
        self.check_id(id)?;
        self.file = Some(Source { path: file.to_owned(), content });
        Ok(self)
    }

    /// Adds the id and the file of the configuration to an error.
    pub(crate) fn name_in(&self, error: AgentConfigError) -> AgentConfigError {
        let error = error.with_id(self.head.id.clone());
        match &self.file {
            Some(file) => error.in_file(&file.path).of_content(file.content),
            None => error,
        }
    }

    /// Checks that the configuration is that of this agent.
    pub(crate) fn check_id(&self, asked: &str) -> Result<(), AgentConfigError> {
        if &*self.head.id == asked {
            return Ok(());
        }
        Err(AgentConfigError::new("id", Kind::OtherId { asked: asked.into(), id: self.head.id.clone() }))
    }

    /// Returns the name of the agent in URLs.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.head.id
    }

    /// Returns the version. It is empty if there is none.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.head.version.0
    }

    /// Returns the title for people.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.head.name.as_deref()
    }

    /// Returns the description. It is empty if the configuration leaves it to the node of the agent.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.head.description
    }

    /// Returns `true` if the agent is hidden from clients.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.head.internal
    }
}

/// Reads both forms; an error names the path.
impl<'de> Deserialize<'de> for AgentConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(value).map_err(|error| serde::de::Error::custom(one_line::chain(&error)))
    }
}

#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<Edge>,
}

fn json(text: &str) -> Result<Value, AgentConfigError> {
    serde_json::from_str(text).map_err(|error| AgentConfigError::new("", Kind::Syntax).with_source(error))
}

#[cfg(feature = "agent-files")]
fn toml(text: &str) -> Result<Value, AgentConfigError> {
    ::toml::from_str(text).map_err(|error| AgentConfigError::new("", Kind::Syntax).with_source(error))
}
