use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;

use omniassist_core::partial_json::{Growing, Status};
use omniassist_core::{JsonText, Limits, RunEvent, Text};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Component, ComponentRegistry};
use crate::instances::TOOL_PREFIX;
use crate::tool::schema::PartialCheck;

/// The props of a component: a JSON object.
pub type ComponentProps = Map<String, Value>;

/// Follows the props of components while a model writes them, for a client in Rust such as a terminal.
///
/// Each call has its own props, so several calls can grow at the same time. Each byte is read once.
///
/// ```
/// use omniassist_server::component::{Component, ComponentRegistry, ComponentStreamCoordinator};
/// use omniassist_server::core::RunEvent;
/// use schemars::JsonSchema;
///
/// #[derive(JsonSchema)]
/// struct Dashboard {
///     title: String,
/// }
///
/// let dashboard = Component::new::<Dashboard>("Dashboard", "Shows a dashboard");
/// let mut coordinator = ComponentStreamCoordinator::new(ComponentRegistry::from_iter([dashboard]));
/// let (call_id, name) = ("call-1".into(), "ui_Dashboard".into());
/// coordinator.push(&RunEvent::ToolInputStart { call_id, name, title: None, app: None })?;
///
/// let delta = RunEvent::ToolInputDelta { call_id: "call-1".into(), delta: r#"{"title": "Sal"#.into() };
/// let part = coordinator.push(&delta)?.ok_or("nothing to show")?;
/// assert_eq!(part.props.as_deref().unwrap()["title"], "Sal");
/// assert!(!part.is_complete && part.is_valid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ComponentStreamCoordinator {
    components: ComponentRegistry,
    calls: HashMap<Text, Call>,
}

/// A step of an answer: a text, or a component whose props grow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PartialComponentProps<'a> {
    /// The kind of the step.
    #[serde(rename = "type")]
    pub kind: PartialKind,
    /// The text, for a step of that kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// The call that shows the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<&'a str>,
    /// The name of the component, without `ui_`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_name: Option<&'a str>,
    /// The props so far, an object. What has another meaning before its end, such as half a date, is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub props: Option<Cow<'a, Value>>,
    /// `true` once the props are complete. A text is complete.
    pub is_complete: bool,
    /// `false` if a property that is complete does not fit. A text is valid.
    pub is_valid: bool,
    /// The faults of the properties that are complete.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub validation_errors: &'a [String],
    #[serde(skip)]
    growing: Option<&'a Growing>,
}

/// The kind of a [`PartialComponentProps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PartialKind {
    /// A text.
    Text,
    /// A component.
    Component,
}

impl PartialComponentProps<'_> {
    /// Returns the status of the value at a JSON pointer into the props, such as `/rows/3`.
    #[must_use]
    pub fn status(&self, pointer: &str) -> Status {
        match (self.growing, &self.props) {
            (Some(growing), _) => growing.status(pointer),
            (None, Some(props)) if props.pointer(pointer).is_some() => Status::Done,
            _ => Status::Pending,
        }
    }
}

/// The props of a component that do not fit.
#[derive(Debug)]
pub struct ComponentPropsError {
    call_id: Text,
    text: Text,
}

impl ComponentPropsError {
    /// Returns the call.
    #[must_use]
    pub fn call_id(&self) -> &Text {
        &self.call_id
    }
}

impl fmt::Display for ComponentPropsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StdError for ComponentPropsError {}

/// A call whose props grow.
struct Call {
    component: Component,
    check: Option<PartialCheck>,
    growing: Growing,
    /// The number of properties that were checked, in the order of the text.
    checked: Vec<String>,
    faults: Vec<String>,
}

impl ComponentStreamCoordinator {
    /// Creates a coordinator for the calls of these components.
    #[must_use]
    pub fn new(components: ComponentRegistry) -> Self {
        Self { components, calls: HashMap::new() }
    }

    /// Takes an event of a run, and returns what a client shows for it. `None` for an event that changes nothing: of
    /// another tool, or props of which nothing can be shown yet.
    ///
    /// # Errors
    ///
    /// Returns `Component props validation failed: …` for props that are complete and do not fit. The model is sent the
    /// same text. The next events can be taken.
    pub fn push<'a>(
        &'a mut self,
        event: &'a RunEvent,
    ) -> Result<Option<PartialComponentProps<'a>>, ComponentPropsError> {
        Ok(match event {
            RunEvent::TextDelta { delta, .. } => Some(PartialComponentProps {
                kind: PartialKind::Text,
                content: Some(delta),
                call_id: None,
                component_name: None,
                props: None,
                is_complete: true,
                is_valid: true,
                validation_errors: &[],
                growing: None,
            }),
            RunEvent::ToolInputStart { call_id, name, .. } => {
                let component = name.strip_prefix(TOOL_PREFIX).and_then(|name| self.components.get(name));
                if let Some(component) = component {
                    self.calls.insert(call_id.clone(), Call::new(component.clone()));
                }
                None
            }
            RunEvent::ToolInputDelta { call_id, delta } => {
                let Some(call) = self.calls.get_mut(call_id) else { return Ok(None) };
                // Text that is no JSON is an error at the end.
                let _ = call.growing.push(delta);
                call.check_closed();
                call.part(call_id)
            }
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                self.calls.remove(call_id);
                let Some(component) =
                    name.strip_prefix(TOOL_PREFIX).and_then(|name| self.components.get(name))
                else {
                    return Ok(None);
                };
                Some(complete(component, call_id, input))
            }
            RunEvent::ToolInputError { call_id, name, error_text, .. } => {
                let was_shown = self.calls.remove(call_id).is_some();
                if was_shown
                    || name.strip_prefix(TOOL_PREFIX).is_some_and(|name| self.components.get(name).is_some())
                {
                    let (call_id, text) = (call_id.clone(), error_text.clone());
                    return Err(ComponentPropsError { call_id, text });
                }
                None
            }
            _ => None,
        })
    }
}

impl Call {
    fn new(component: Component) -> Self {
        // A schema that cannot be checked is refused at the registration of the component.
        let check = PartialCheck::new(component.props_schema().clone(), &Limits::default()).ok();
        Self { component, check, growing: Growing::new(), checked: Vec::new(), faults: Vec::new() }
    }

    /// Checks the properties that have been closed.
    fn check_closed(&mut self) {
        let (Some(check), Some(Value::Object(props))) = (&self.check, self.growing.value()) else { return };
        if props.len() <= self.checked.len() {
            return;
        }
        let open = self.growing.open().unwrap_or_default();
        let open = open.split('/').nth(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
        for (key, value) in props {
            if open.as_ref() == Some(key) || self.checked.contains(key) {
                continue;
            }
            let member = [(key.clone(), value.clone())].into_iter().collect();
            self.faults.extend(check.faults(&member));
            self.checked.push(key.clone());
        }
    }

    fn part<'a>(&'a self, call_id: &'a Text) -> Option<PartialComponentProps<'a>> {
        let props = self.growing.shown(self.component.props_schema())?;
        Some(PartialComponentProps {
            kind: PartialKind::Component,
            content: None,
            call_id: Some(call_id),
            component_name: Some(self.component.name()),
            props: Some(props),
            is_complete: false,
            is_valid: self.faults.is_empty(),
            validation_errors: &self.faults,
            growing: Some(&self.growing),
        })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("component", &self.component).finish_non_exhaustive()
    }
}

fn complete<'a>(component: &'a Component, call_id: &'a Text, input: &JsonText) -> PartialComponentProps<'a> {
    let mut props = input.to_value();
    if let Some(props) = props.as_object_mut() {
        props.remove(super::render::INSTANCE_ID);
    }
    add_defaults(&mut props, component.props_schema());
    PartialComponentProps {
        kind: PartialKind::Component,
        content: None,
        call_id: Some(call_id),
        component_name: Some(component.name()),
        props: Some(Cow::Owned(props)),
        is_complete: true,
        is_valid: true,
        validation_errors: &[],
        growing: None,
    }
}

/// Adds the defaults of the schema for properties that are absent.
fn add_defaults(value: &mut Value, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let Some(members) = value.as_object_mut() else { return };
    for (key, property) in properties {
        if let Some(default) = property.get("default").filter(|_| !members.contains_key(key)) {
            members.insert(key.clone(), default.clone());
        }
        if let Some(member) = members.get_mut(key) {
            add_defaults(member, property);
        }
    }
}
