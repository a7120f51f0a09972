use std::any::type_name;

use schemars::JsonSchema;
use serde_json::Value;

use super::state::{StateMap, StateNeed};
use crate::tool::schema;

/// A description of the needs of a tool function's parameters.
#[derive(Debug, Default)]
pub struct ToolDescription {
    pub(in crate::tool) schema: Option<Value>,
    pub(in crate::tool) arguments: Vec<&'static str>,
    pub(in crate::tool) state: Vec<StateNeed>,
}

impl ToolDescription {
    /// Sets the type of the model's arguments. A tool has at most one such type.
    pub fn arguments<T: JsonSchema>(&mut self) {
        self.schema = Some(schema::generate::<T>());
        self.arguments.push(type_name::<T>());
    }

    /// Returns the name of the first type that the host must provide and did not.
    pub(crate) fn unmet(&self, state: &StateMap) -> Option<&'static str> {
        self.state.iter().find(|need| !state.contains(need)).map(|need| need.type_name)
    }

    /// Adds a type that the host must provide with `.state(value)`.
    pub fn needs_state<T: 'static>(&mut self) {
        self.state.push(StateNeed::of::<T>());
    }
}
