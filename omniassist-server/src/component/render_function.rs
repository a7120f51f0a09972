//! The function of the host that renders a component, and its failures.

use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::JsonText;
use serde_json::{Value, json};

use super::{ComponentContext, ComponentOutput};
use crate::panics;
use crate::tool::{Environment, ToolContext, ToolError};

/// A function that renders a component.
pub(super) type Render = Arc<dyn Fn(ToolContext) -> RenderFuture + Send + Sync>;

type RenderFuture = Pin<Box<dyn Future<Output = Result<ComponentOutput, ToolError>> + Send>>;

/// Calls the function of a component. A panic is an error.
pub(super) async fn attempt(
    render: Option<&Render>,
    props: &JsonText,
    context: &ComponentContext,
) -> Result<ComponentOutput, ToolError> {
    let Some(render) = render else { return Ok(ComponentOutput::default()) };
    let rendered =
        panics::catch_async("the rendering of a component", render(context.call_with(props.clone()))).await;
    let output = rendered.unwrap_or_else(|| Err(ToolError::panicked()))?;
    match output.error {
        Some(error) => Err(ToolError::internal(error)),
        None => Ok(output),
    }
}

/// Logs the failure of a component, and sends it to the client.
pub(super) fn report(component: &str, error: &ToolError, context: &ComponentContext) {
    tracing::warn!(error = error.text(), source = ?error.source(), "Component {component} failed:");
    let instance = context.instance_id();
    let fault = json!({ "componentName": component, "instanceId": instance, "error": error.text() });
    // A client that does not read is shown the failed call in any case.
    let _ = context.emit("componentError", fault);
}

/// Returns what is shown in place of a component that failed.
pub(super) fn fallback(component: &str, message: &str, environment: Environment) -> Value {
    match environment {
        Environment::Cli => format!("❌ Error rendering {component}: {message}").into(),
        _ => json!({ "type": "error", "componentName": component, "message": message }),
    }
}
