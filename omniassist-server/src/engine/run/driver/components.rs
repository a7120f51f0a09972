//! The components that tools show.

use omniassist_core::RunEvent;
use omniassist_core::event::{ComponentEvent, InstanceState, ShownComponent, ShownStatus};
use omniassist_core::{JsonText, Text};
use serde_json::{Map, Value};

use super::Driver;
use crate::component::ComponentErrorBoundary;
use crate::instances::TOOL_PREFIX;
use crate::tool::{Environment, TextArea};

/// The key of the shared state that has the states of instances.
const SHARED: &str = "ui";

impl Driver {
    /// Adds the instructions about components to the system prompt of a run that is offered one.
    pub(super) fn add_ui_instructions(&mut self) {
        let Some(instructions) = &self.setup.config.ui_instructions else { return };
        if self.tools.registered().any(|tool| tool.component().is_some()) {
            self.call.system = Some(match self.call.system.take().filter(|system| !system.is_empty()) {
                Some(system) => format!("{system}\n\n{instructions}").into(),
                None => instructions.clone(),
            });
        }
    }

    /// Takes an event of a tool.
    pub(super) fn take_tool_event(&mut self, event: RunEvent) {
        let RunEvent::Component(mut event) = event else { return self.events.push(event) };
        let mut shared = None;
        match &mut *event {
            ComponentEvent::State { instance, state } => {
                if let Some(sealer) = &self.sealer {
                    sealer.seal_instance(instance, state);
                }
                shared = self.share_instance(instance, state);
            }
            ComponentEvent::Shown { instance, shown } => {
                if let Err(reason) = self.check_shown(shown) {
                    tracing::warn!(
                        component = shown.component.as_str(),
                        reason,
                        "a component cannot be shown"
                    );
                    (shown.status, shown.error) = (ShownStatus::Error, Some(reason.into()));
                }
                if let Some(text) = self.text_of(shown) {
                    *event = ComponentEvent::Text { instance: instance.clone(), text };
                }
            }
            _ => {}
        }
        self.events.push(RunEvent::Component(event));
        if let Some(shared) = shared {
            self.events.push(shared);
        }
    }

    /// Puts the state of an instance into the state that the run shares with its client. Returns the change.
    fn share_instance(&self, instance: &Text, state: &InstanceState) -> Option<RunEvent> {
        let data = serde_json::to_value(state).ok()?;
        self.run.state().update(|shared| {
            if !shared.is_object() {
                *shared = Value::Object(Map::new());
            }
            if let Some(shared) = shared.as_object_mut() {
                let all = shared.entry(SHARED).or_insert_with(|| Value::Object(Map::new()));
                if let Some(all) = all.as_object_mut() {
                    all.insert(instance.as_str().to_owned(), data);
                }
            }
        });
        self.change_of_state()
    }

    /// Checks that there is such a component, and that the props fit it.
    fn check_shown(&self, shown: &ShownComponent) -> Result<(), String> {
        let tool = self.tools.get(&format!("{TOOL_PREFIX}{}", shown.component));
        let tool = tool.filter(|tool| tool.component().is_some());
        let tool = tool.ok_or_else(|| "There is no such component.".to_owned())?;
        tool.check_props(&shown.props.to_value())
    }

    /// Returns the text of a component for a client that shows none.
    fn text_of(&self, shown: &ShownComponent) -> Option<Text> {
        if self.run.shows_components() {
            return None;
        }
        if let Some(error) = &shown.error {
            let fallback = ComponentErrorBoundary::fallback(&shown.component, error, Environment::Cli);
            return fallback.as_str().map(Text::from);
        }
        let tool = self.tools.get(&format!("{TOOL_PREFIX}{}", shown.component))?;
        let write = tool.component()?.text.as_ref()?;
        let props: &JsonText = &shown.props;
        write(props, &TextArea::default()).map(Text::from)
    }
}
