//! Nodes and edges.

use omniassist_core::Text;
use serde::Deserialize;
use serde_json::Value;

/// A node of a configuration: an agent or a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Node {
    pub(super) id: Text,
    #[serde(rename = "type")]
    pub(super) kind: Text,
    #[serde(default)]
    pub(super) data: Value,
}

impl Node {
    /// Creates a node. The type is `agent` or `tool`, and `data` an object with the keys that
    /// [`AgentConfig`](super::AgentConfig#keys) lists.
    #[must_use]
    pub fn new(id: impl Into<Text>, kind: impl Into<Text>, data: Value) -> Self {
        Self { id: id.into(), kind: kind.into(), data }
    }
}

/// An edge of a configuration: from an agent to one of its tools, or to another agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Edge {
    pub(super) source: Text,
    pub(super) target: Text,
    #[serde(default)]
    data: Option<EdgeData>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct EdgeData {
    #[serde(default)]
    kind: Option<EdgeKind>,
}

/// The kind of an edge between two agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EdgeKind {
    /// The first agent asks the second one, and goes on with its report.
    #[default]
    Delegate,
    /// The first agent leaves the conversation to the second one.
    Handoff,
}

impl Edge {
    /// Creates an edge between the nodes with these ids. Between two agents, it is a [`Delegate`](EdgeKind::Delegate).
    #[must_use]
    pub fn new(source: impl Into<Text>, target: impl Into<Text>) -> Self {
        Self { source: source.into(), target: target.into(), data: None }
    }

    /// Sets the kind. Default: [`EdgeKind::Delegate`].
    #[must_use]
    pub fn with_kind(mut self, kind: EdgeKind) -> Self {
        self.data = Some(EdgeData { kind: Some(kind) });
        self
    }

    pub(super) fn kind(&self) -> EdgeKind {
        self.data.as_ref().and_then(|data| data.kind).unwrap_or_default()
    }
}
