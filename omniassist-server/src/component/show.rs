use omniassist_core::event::{ComponentEvent, ShownComponent};
use omniassist_core::{JsonText, Text};
use serde::Serialize;

use super::instance_id;
use crate::tool::{FromToolCall, ToolContext, ToolError};

/// Shows components from a server tool, without the model. It is an extractor.
///
/// A client gets the component as a data part `data-ui`, and in AG-UI as an activity of the type `omniassist-ui`. Props that
/// do not fit the component are shown as an error.
///
/// ```
/// use omniassist_server::component::Ui;
/// use omniassist_server::tool::{Tool, ToolError};
/// use serde_json::json;
///
/// async fn sales(ui: Ui) -> Result<u32, ToolError> {
///     ui.show("stat", json!({"items": [{"label": "Sales", "value": "42"}]}))?;
///     Ok(42)
/// }
/// let tool = Tool::new("sales", "Counts the sales", sales);
/// ```
#[derive(Debug)]
pub struct Ui(ToolContext);

impl Ui {
    /// Shows a component in a new instance, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the props have no JSON form, or if too many updates wait for the client.
    pub fn show(&self, component: impl Into<Text>, props: impl Serialize) -> Result<Text, ToolError> {
        let component = component.into();
        let instance = instance_id::new(&component);
        self.show_as(&instance, component, props)?;
        Ok(instance)
    }

    /// Shows an instance with other props. The id is one that [`show`](Self::show) returned, or another unique text of at
    /// most 256 bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`show`](Self::show).
    pub fn show_as(
        &self,
        instance: &Text,
        component: impl Into<Text>,
        props: impl Serialize,
    ) -> Result<(), ToolError> {
        let shown = ShownComponent::complete(component, JsonText::from_serialize(&props)?);
        self.0.component_event(ComponentEvent::Shown { instance: instance.clone(), shown })
    }
}

impl FromToolCall for Ui {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(call.clone()))
    }
}
