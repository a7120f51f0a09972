use std::sync::{Mutex, MutexGuard};

use omniassist_core::event::InstanceState;
use omniassist_core::message::{DataPart, Message, Part, Role, ToolPart, ToolState};
use omniassist_core::{JsonText, Limits, RunRequest, Text};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::sync::lock;

/// The prefix of the names of components' tools.
pub(crate) const TOOL_PREFIX: &str = "ui_";

/// The instances of components that a conversation shows, the newest last.
#[derive(Debug)]
pub(crate) struct Instances {
    shown: Mutex<Vec<Instance>>,
    max_state_bytes: usize,
}

impl Default for Instances {
    fn default() -> Self {
        let max_state_bytes = Limits::default().max_component_state_bytes;
        Self { shown: Mutex::default(), max_state_bytes }
    }
}

/// An instance of a component.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instance {
    pub(crate) id: Text,
    pub(crate) state: InstanceState,
    /// `false` for an instance that was shown and has no state.
    pub(crate) has_state: bool,
}

/// The output of a call that showed a component.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rendered {
    instance_id: Text,
    component_name: Text,
}

impl Instances {
    /// Returns the limit of each part of a state, in bytes.
    pub(crate) fn max_state_bytes(&self) -> usize {
        self.max_state_bytes
    }

    /// Reads the instances of a verified conversation: the newest that are accepted. `accepts` decides about each posted
    /// instance. Of several states of an instance, the one with the highest revision counts, and of those the newest.
    ///
    /// The newest are read first, so that older ones and copies cost no check.
    pub(crate) fn read(
        request: &RunRequest,
        limits: &Limits,
        mut accepts: impl FnMut(&mut Instance) -> bool,
    ) -> Self {
        let mut found: Vec<Instance> = Vec::new();
        let mut take = |id: Text, state: InstanceState, has_state: bool| {
            let known = found.iter_mut().find(|instance| instance.id == id);
            let mut posted = Instance { id, state, has_state };
            if let Some(known) = known {
                if known.is_replaced_by(&posted) && accepts(&mut posted) {
                    *known = posted;
                }
            } else if found.len() < limits.max_component_instances && accepts(&mut posted) {
                found.push(posted);
            }
        };
        for (id, data) in shared(request.state.as_ref()).into_iter().rev() {
            if let Ok(state) = serde_json::from_value::<InstanceState>(data) {
                take(id.into(), state, true);
            }
        }
        let answers = request.messages.iter().rev().filter(|message| message.role == Role::Assistant);
        for part in answers.flat_map(|message: &Message| message.parts.iter().rev()) {
            match part {
                Part::Tool(tool) => {
                    if let Some((id, component)) = rendered(tool) {
                        take(id, InstanceState::new(component), false);
                    }
                }
                Part::Data(DataPart { name, id: Some(id), data }) if *name == InstanceState::DATA => {
                    if let Ok(state) = data.to::<InstanceState>() {
                        take(id.clone(), state, true);
                    }
                }
                _ => {}
            }
        }
        found.reverse();
        Self { shown: Mutex::new(found), max_state_bytes: limits.max_component_state_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Instance>> {
        lock(&self.shown)
    }

    /// Returns the instance with this id.
    pub(crate) fn get(&self, id: &str) -> Option<Instance> {
        self.lock().iter().find(|instance| instance.id == id).cloned()
    }

    /// Returns all instances, the newest last.
    pub(crate) fn list(&self) -> Vec<Instance> {
        self.lock().clone()
    }

    /// Replaces the state of an instance, whose place does not change.
    pub(crate) fn refresh(&self, id: &str, state: InstanceState) {
        if let Some(known) = self.lock().iter_mut().find(|known| known.id == id) {
            known.state = state;
        }
    }

    /// Replaces the state of an instance, which is then the newest.
    pub(crate) fn set(&self, id: &Text, state: InstanceState, has_state: bool) {
        let mut instances = self.lock();
        instances.retain(|instance| instance.id != *id);
        instances.push(Instance { id: id.clone(), state, has_state });
    }
}

impl Instance {
    /// Returns `true` if a posted state counts instead of this one, which is at a later place in the conversation.
    fn is_replaced_by(&self, posted: &Self) -> bool {
        let is_newer = posted.has_state && (!self.has_state || posted.state.rev > self.state.rev);
        is_newer && self.state.component == posted.state.component
    }
}

/// Returns the bytes of the larger part of a state.
pub(crate) fn state_bytes(state: &InstanceState) -> usize {
    let server = state.server.as_ref().map_or(0, |server| server.as_str().len());
    server.max(state.state.as_str().len())
}

/// Returns the instance and the component of a call that showed one.
fn rendered(tool: &ToolPart) -> Option<(Text, Text)> {
    let component = tool.name.strip_prefix(TOOL_PREFIX)?;
    let ToolState::OutputAvailable { output, preliminary: false, .. } = &tool.state else { return None };
    let rendered: Rendered = output.to().ok()?;
    (rendered.component_name == component).then_some((rendered.instance_id, rendered.component_name))
}

/// Returns the states that a client with a shared state posts in it.
fn shared(state: Option<&JsonText>) -> Map<String, Value> {
    #[derive(Deserialize)]
    struct Shared {
        ui: Map<String, Value>,
    }
    state.and_then(|state| state.to::<Shared>().ok()).map(|shared| shared.ui).unwrap_or_default()
}
