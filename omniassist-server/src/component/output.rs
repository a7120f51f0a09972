use omniassist_core::Text;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::tool::{IntoToolError, ToolError};

/// The result of rendering a component.
///
/// ```
/// use omniassist_server::component::ComponentOutput;
///
/// let output = ComponentOutput::new().state("total", 42).event("rendered", "now");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "an output does nothing until a function returns it"]
pub struct ComponentOutput {
    pub(super) element: Option<Value>,
    pub(super) state_updates: Map<String, Value>,
    pub(super) events: Vec<(Text, Value)>,
    /// The first value that has no JSON form.
    pub(super) error: Option<String>,
}

impl ComponentOutput {
    /// Creates an output without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a rendering of the server, which clients get with the output of the call. The model reads it too, so keep it
    /// short. Default: none.
    pub fn element(mut self, element: impl Serialize) -> Self {
        self.element = self.json(element);
        self
    }

    /// Changes a field of the state. A field of [`server_state`](super::Component::server_state) is changed there. Default:
    /// none.
    pub fn state(mut self, field: impl Into<String>, value: impl Serialize) -> Self {
        if let Some(value) = self.json(value) {
            self.state_updates.insert(field.into(), value);
        }
        self
    }

    /// Sends the component an event, which clients do not keep. Default: none.
    pub fn event(mut self, kind: impl Into<Text>, data: impl Serialize) -> Self {
        if let Some(data) = self.json(data) {
            self.events.push((kind.into(), data));
        }
        self
    }

    /// Returns the [rendering of the server](Self::element).
    #[must_use]
    pub fn element_value(&self) -> Option<&Value> {
        self.element.as_ref()
    }

    fn json(&mut self, value: impl Serialize) -> Option<Value> {
        let value = serde_json::to_value(value);
        value.map_err(|error| self.error.get_or_insert_with(|| error.to_string())).ok()
    }
}

/// A result of a function that renders a component: `Result<ComponentOutput, E>` with `E: Into<ToolError>`.
#[diagnostic::on_unimplemented(
    message = "a function that renders a component returns `Result<ComponentOutput, E>`, not `{Self}`",
    label = "does not return a `Result<ComponentOutput, _>`",
    note = "the error is `E: IntoToolError`, such as `ToolError`"
)]
pub trait IntoComponentOutput {
    /// Returns the output.
    ///
    /// # Errors
    ///
    /// Returns the function's own error.
    fn into_component_output(self) -> Result<ComponentOutput, ToolError>;
}

impl<E: IntoToolError> IntoComponentOutput for Result<ComponentOutput, E> {
    fn into_component_output(self) -> Result<ComponentOutput, ToolError> {
        self.map_err(E::into_tool_error)
    }
}
