//! Components of a user interface that a run shows, as its clients see them.

use serde::{Deserialize, Serialize};

use crate::{JsonText, Text};

/// An event of one instance of a component. The props that a model writes are not among them: they are the arguments of
/// a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ComponentEvent {
    /// The server shows a component, or changes what it shows.
    Shown {
        /// The instance.
        instance: Text,
        /// The component and its props.
        shown: ShownComponent,
    },
    /// The state of an instance. A later one replaces it.
    State {
        /// The instance.
        instance: Text,
        /// The state.
        state: InstanceState,
    },
    /// A text that shows a component to a client without components.
    Text {
        /// The instance.
        instance: Text,
        /// The text.
        text: Text,
    },
    /// An event of the host for the component. Clients do not keep it.
    Emitted(EmittedEvent),
}

/// A component that the server shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShownComponent {
    /// The name of the component.
    pub component: Text,
    /// The props.
    pub props: JsonText,
    /// The progress.
    pub status: ShownStatus,
    /// The reason why the component cannot be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

impl ShownComponent {
    /// Creates a component with complete props.
    #[must_use]
    pub fn complete(component: impl Into<Text>, props: JsonText) -> Self {
        Self { component: component.into(), props, status: ShownStatus::Complete, error: None }
    }
}

/// The progress of a component that the server shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShownStatus {
    /// More of the props follows.
    Streaming,
    /// The props are complete.
    Complete,
    /// The component cannot be shown.
    Error,
}

/// The state of an instance of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InstanceState {
    /// The name of the component.
    pub component: Text,
    /// The revision. The server raises it with each of its changes.
    pub rev: u64,
    /// The part that the user may change, an object.
    pub state: JsonText,
    /// The part that only the server may change, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<JsonText>,
    /// Proof that the server has written everything but `state`. The client posts it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Text>,
}

impl InstanceState {
    /// The name of the data part that has a state.
    pub const DATA: &str = "ui-state";

    /// Creates the state of a new instance, without content.
    #[must_use]
    pub fn new(component: impl Into<Text>) -> Self {
        let state = JsonText::EMPTY_OBJECT;
        Self { component: component.into(), rev: 0, state, server: None, seal: None }
    }

    /// Sets the part that the user may change.
    #[must_use]
    pub fn with_state(self, state: JsonText) -> Self {
        Self { state, ..self }
    }
}

/// An event of the host for a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmittedEvent {
    /// The instance.
    #[serde(rename = "instanceId")]
    pub instance: Text,
    /// The type of the event.
    #[serde(rename = "type")]
    pub kind: Text,
    /// The content.
    pub data: JsonText,
}

impl EmittedEvent {
    /// Creates an event.
    #[must_use]
    pub fn new(instance: Text, kind: impl Into<Text>, data: JsonText) -> Self {
        Self { instance, kind: kind.into(), data }
    }
}

/// The data part that shows an event.
pub(crate) struct ComponentData<'a> {
    /// The name of the part, without its prefix.
    pub(crate) name: &'static str,
    /// The instance. `None` for an event that clients do not keep.
    pub(crate) id: Option<&'a Text>,
    /// The data.
    pub(crate) data: ComponentContent<'a>,
}

/// The data of a [`ComponentData`].
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ComponentContent<'a> {
    Shown(&'a ShownComponent),
    State(&'a InstanceState),
    Emitted(&'a EmittedEvent),
}

impl ComponentEvent {
    /// Returns the bytes of the texts in the event.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Shown { instance, shown } => {
                instance.len() + shown.component.len() + shown.props.as_str().len()
            }
            Self::State { instance, state } => {
                let server = state.server.as_ref().map_or(0, |server| server.as_str().len());
                instance.len() + state.component.len() + state.state.as_str().len() + server
            }
            Self::Text { instance, text } => instance.len() + text.len(),
            Self::Emitted(emitted) => {
                emitted.instance.len() + emitted.kind.len() + emitted.data.as_str().len()
            }
        }
    }

    /// Returns `true` if a client that gets this event needs no `earlier` one.
    #[must_use]
    pub fn replaces(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Shown { instance, .. }, Self::Shown { instance: other, .. })
            | (Self::State { instance, .. }, Self::State { instance: other, .. }) => instance == other,
            _ => false,
        }
    }

    /// Returns the data part that shows the event. `None` for a text, which such clients are not sent.
    pub(crate) fn data(&self) -> Option<ComponentData<'_>> {
        let (name, id, data) = match self {
            Self::Shown { instance, shown } => ("ui", Some(instance), ComponentContent::Shown(shown)),
            Self::State { instance, state } => {
                (InstanceState::DATA, Some(instance), ComponentContent::State(state))
            }
            Self::Emitted(emitted) => ("ui-event", None, ComponentContent::Emitted(emitted)),
            Self::Text { .. } => return None,
        };
        Some(ComponentData { name, id, data })
    }
}
