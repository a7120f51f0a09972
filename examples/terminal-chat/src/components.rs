//! The components that the terminal shows, and their text.

use std::sync::LazyLock;

use omniassist_server::component::{Component, TextArea};
use omniassist_server::ui::builtin;
use serde_json::Value;

/// The beginning of the names of components' tools.
const PREFIX: &str = "ui_";

static ALL: LazyLock<Vec<Component>> = LazyLock::new(builtin::all);

/// Returns the components.
pub(crate) fn all() -> Vec<Component> {
    ALL.clone()
}

/// Returns the name of the component that a tool shows.
pub(crate) fn name_of(tool: &str) -> Option<&str> {
    tool.strip_prefix(PREFIX)
}

/// Returns the JSON Schema of a component's props.
pub(crate) fn schema(name: &str) -> Option<&'static Value> {
    ALL.iter().find(|component| *component.name() == *name).map(Component::props_schema)
}

/// Returns the text of a component. `None` if there is none, or the props do not fit.
pub(crate) fn text(name: &str, props: &Value, columns: usize) -> Option<String> {
    let component = ALL.iter().find(|component| *component.name() == *name)?;
    component.text(props, &TextArea::new(columns))
}
