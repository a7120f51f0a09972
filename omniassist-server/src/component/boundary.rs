use omniassist_core::{JsonText, Limits};
use serde_json::Value;

use super::render_function::{attempt, fallback, report};
use super::{Component, ComponentContext, ComponentOutput};
use crate::tool::schema::{ArgumentCheck, SchemaLimits};
use crate::tool::{Environment, ToolError};

/// The boundary at which the failure of a component ends: the rest of the answer is shown.
///
/// A failure, a panic included, is logged and sent to the client as the event `componentError`. The text that clients and
/// models read is that of the [`ToolError`]; the log has the source. The call of a model fails with the same text, so that
/// the model can correct it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentErrorBoundary;

impl ComponentErrorBoundary {
    /// Renders a component within the instance of another one: in its function, for example as a part of its element.
    /// A failure becomes an output with the [`fallback`](Self::fallback) as its element.
    pub async fn render_safely(
        component: &Component,
        props: Value,
        context: &ComponentContext,
    ) -> ComponentOutput {
        let rendered = match check(component, &props) {
            Ok(()) => attempt(component.render_function(), &JsonText::from_value(&props), context).await,
            Err(error) => Err(error),
        };
        rendered.unwrap_or_else(|error| {
            report(component.name(), &error, context);
            ComponentOutput::new().element(Self::fallback(
                component.name(),
                error.text(),
                context.environment(),
            ))
        })
    }

    /// Returns what is shown in place of a component that failed: a text in a terminal, and an object otherwise.
    #[must_use]
    pub fn fallback(component: &str, message: &str, environment: Environment) -> Value {
        fallback(component, message, environment)
    }
}

fn check(component: &Component, props: &Value) -> Result<(), ToolError> {
    let schema = component.props_schema();
    let check =
        ArgumentCheck::new(schema, SchemaLimits::from(&Limits::default())).map_err(ToolError::internal)?;
    let faults = check.faults(schema, props);
    faults
        .map_or(Ok(()), |faults| Err(ToolError::new(format!("Component props validation failed: {faults}"))))
}
