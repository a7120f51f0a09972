use omniassist_core::Text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::afs::{AfsEntry, AfsEntryKind};

/// An entry of a chat's history, as a page shows it: a message, or a component that was shown.
///
/// ```
/// use omniassist_server::ui::UiMessage;
/// use omniassist_server::afs::AfsEntry;
/// use serde_json::{Map, json};
///
/// let entry = AfsEntry::component_render("chart_1", "chart", json!({ "kind": "bar" }), Map::new());
/// let message = UiMessage::from_entry(&entry).ok_or("not shown")?;
/// assert_eq!(message.component.ok_or("no component")?.instance_id, "chart_1");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiMessage {
    /// The role: `user`, `assistant` or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Text>,
    /// The text of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The component that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<UiMessageComponent>,
    /// The rendering of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_element: Option<Value>,
}

/// A component in a [`UiMessage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiMessageComponent {
    /// The instance.
    #[serde(default)]
    pub instance_id: Text,
    /// The name.
    pub name: Text,
    /// The props.
    pub props: Map<String, Value>,
    /// The state at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Map<String, Value>>,
}

impl UiMessage {
    /// Reads an entry. `None` for the state of an instance, and for an entry of another form.
    #[must_use]
    pub fn from_entry(entry: &AfsEntry) -> Option<Self> {
        if !matches!(entry.kind(), AfsEntryKind::Message | AfsEntryKind::ComponentRender) {
            return None;
        }
        let mut message = Self::deserialize(&entry.content).ok()?;
        if let (Some(component), Some(instance)) = (&mut message.component, entry.instance_id()) {
            component.instance_id = instance.into();
        }
        Some(message)
    }
}
