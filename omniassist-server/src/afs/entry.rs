use bytes::Bytes;
use omniassist_core::Text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::store::StoreError;

/// An entry of an [`Afs`](super::Afs).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AfsEntry {
    /// The path under which it can be read. Empty for one that was not written.
    pub path: Text,
    /// The content.
    pub content: Value,
    /// Further properties. `type` is the [kind](Self::kind).
    pub metadata: Map<String, Value>,
}

/// The kind of an [`AfsEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfsEntryKind {
    /// A message of the conversation: `{role, content, parts}`.
    Message,
    /// The state of a component's instance: `{role: "system", type, componentInstanceId, state}`.
    ComponentState,
    /// A component that was shown: `{role: "assistant", component: {name, props, state}}`.
    ComponentRender,
    /// Anything else.
    Other,
}

impl AfsEntryKind {
    /// Returns the `type` in the metadata of such an entry, or `None` for one of another kind.
    #[must_use]
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Message => Some("message"),
            Self::ComponentState => Some("component-state"),
            Self::ComponentRender => Some("component-render"),
            Self::Other => None,
        }
    }
}

impl AfsEntry {
    /// Creates an entry without metadata.
    pub fn new(content: impl Into<Value>) -> Self {
        Self { path: Text::default(), content: content.into(), metadata: Map::new() }
    }

    /// Sets a member of the metadata. Default: none.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Creates the entry of an instance's state. The history adds the time, the number and the owner.
    pub fn component_state(
        instance: impl Into<String>,
        state: impl IntoIterator<Item = (String, Value)>,
    ) -> Self {
        let (instance, state) = (instance.into(), state.into_iter().collect::<Map<_, _>>());
        let content = json!({
            "role": "system",
            "type": "component-state",
            "componentInstanceId": instance,
            "state": state,
        });
        Self::new(content).with("instanceId", instance).with("type", "component-state")
    }

    /// Creates the entry of a component that was shown. The history adds the time and the owner.
    pub fn component_render(
        instance: impl Into<String>,
        component: impl Into<String>,
        props: impl Into<Value>,
        state: impl IntoIterator<Item = (String, Value)>,
    ) -> Self {
        let (component, state) = (component.into(), state.into_iter().collect::<Map<_, _>>());
        let content = json!({
            "role": "assistant",
            "component": { "name": component, "props": props.into(), "state": state },
        });
        let entry = Self::new(content).with("instanceId", instance.into()).with("componentName", component);
        entry.with("type", "component-render")
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> AfsEntryKind {
        match self.metadata.get("type").and_then(Value::as_str) {
            Some("message") => AfsEntryKind::Message,
            Some("component-state") => AfsEntryKind::ComponentState,
            Some("component-render") => AfsEntryKind::ComponentRender,
            _ => AfsEntryKind::Other,
        }
    }

    /// Returns the instance to which it belongs.
    #[must_use]
    pub fn instance_id(&self) -> Option<&str> {
        self.metadata.get("instanceId").and_then(Value::as_str)
    }

    /// Returns the state of an instance, for an entry of that kind.
    #[must_use]
    pub fn state(&self) -> Option<&Map<String, Value>> {
        self.content.get("state").and_then(Value::as_object)
    }

    /// Returns the entry as a store keeps it.
    pub(super) fn to_body(&self) -> Result<Bytes, StoreError> {
        let written = json!({ "content": self.content, "metadata": self.metadata });
        serde_json::to_vec(&written).map(Bytes::from).map_err(StoreError::invalid)
    }

    /// Reads what [`to_body`](Self::to_body) wrote.
    pub(super) fn from_body(path: impl Into<Text>, body: &[u8]) -> Result<Self, StoreError> {
        let Written { content, metadata } = serde_json::from_slice(body).map_err(StoreError::corrupt)?;
        Ok(Self { path: path.into(), content, metadata })
    }
}

#[derive(Deserialize)]
struct Written {
    content: Value,
    metadata: Map<String, Value>,
}
