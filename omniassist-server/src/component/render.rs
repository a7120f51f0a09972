//! The call with which a model shows a component.

use std::sync::Arc;

use omniassist_core::event::ComponentEvent;
use omniassist_core::{JsonText, Text};
use serde::Serialize;
use serde_json::Value;

use super::context::{Acting, ComponentContext, ComponentType};
use super::instance_id;
use super::render_function::{self, Render};
use crate::tool::{Environment, TextArea, ToolContext, ToolError, WriteText};

/// The property of a component's tool that names an instance to show again.
pub(super) const INSTANCE_ID: &str = "instanceId";

/// A component, as its tool renders it.
pub(super) struct Rendering {
    pub(super) of: Arc<ComponentType>,
    pub(super) render: Option<Render>,
    pub(super) text: Option<WriteText>,
}

/// The output of the call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rendered {
    instance_id: Text,
    component_name: Text,
    rendered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<Value>,
}

/// Renders an instance: the one that the model names if the conversation shows it, or a new one.
pub(super) async fn render(
    rendering: Arc<Rendering>,
    mut props: Value,
    call: ToolContext,
) -> Result<Rendered, ToolError> {
    let of = &rendering.of;
    let wanted = props.as_object_mut().and_then(|props| props.remove(INSTANCE_ID));
    let wanted = wanted.as_ref().and_then(Value::as_str).map(Text::from);
    let instances = call.run().instances();
    let known = wanted.and_then(|id| instances.get(&id)).filter(|known| known.state.component == of.name);
    let id = match known {
        Some(known) => {
            instances.set(&known.id, known.state, known.has_state);
            known.id
        }
        None => {
            let id = instance_id::new(&of.name);
            instances.set(&id, of.initial(), of.has_state());
            id
        }
    };
    let acting = Arc::new(Acting { id: id.clone(), of: Arc::clone(of) });
    let props = JsonText::from_value(&props);
    let context = ComponentContext::new(call.clone(), acting);
    let rendered = render_function::attempt(rendering.render.as_ref(), &props, &context).await;
    let output = rendered.inspect_err(|error| {
        render_function::report(&of.name, error, &context);
        if !call.run().shows_components() {
            let fallback = render_function::fallback(&of.name, error.text(), Environment::Cli);
            let text = fallback.as_str().unwrap_or_default().into();
            let _ = call.component_event(ComponentEvent::Text { instance: id.clone(), text });
        }
    })?;
    if !output.state_updates.is_empty() {
        context.merge(output.state_updates).await?;
    } else if of.has_state() {
        context.send_state()?;
    }
    for (kind, data) in output.events {
        context.emit(kind, data)?;
    }
    if !call.run().shows_components()
        && let Some(text) = rendering.text.as_ref().and_then(|write| write(&props, &TextArea::default()))
    {
        call.component_event(ComponentEvent::Text { instance: id.clone(), text: text.into() })?;
    }
    context.record(props.to_value()).await?;
    Ok(Rendered { instance_id: id, component_name: of.name.clone(), rendered: true, element: output.element })
}
