//! The part of a tool that makes it a component of a user interface.

use std::fmt;
use std::sync::Arc;

use omniassist_core::typescript::ComponentDeclaration;
use omniassist_core::{JsonText, Limits, Text};
use serde_json::Value;

use crate::Error;
use crate::tool::schema::{self, ArgumentCheck, SchemaLimits};

/// The environment for which a component is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Environment {
    /// A terminal.
    Cli,
    /// A web page.
    Web,
    /// Both.
    #[default]
    Universal,
}

impl Environment {
    /// Returns the name: `cli`, `web` or `universal`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Web => "web",
            Self::Universal => "universal",
        }
    }

    /// Returns `true` if components of this environment can be shown in `other`.
    #[must_use]
    pub fn fits(self, other: Self) -> bool {
        self == Self::Universal || self == other
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The area for which a component is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextArea {
    /// The width in columns. Default: 80.
    pub columns: usize,
}

impl TextArea {
    /// Creates an area of this width.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns }
    }
}

impl Default for TextArea {
    fn default() -> Self {
        Self::new(80)
    }
}

/// A function that writes a component as text. `None` for props that do not fit.
pub(crate) type WriteText = Arc<dyn Fn(&JsonText, &TextArea) -> Option<String> + Send + Sync>;

/// The properties of a component that its tool carries.
#[derive(Clone)]
pub(crate) struct ComponentParts {
    pub(crate) name: Text,
    pub(crate) environment: Environment,
    /// The schema of the props, without the property that names an instance.
    pub(crate) props: Value,
    /// The schema of the state that the user may change.
    pub(crate) state: Option<Value>,
    /// The schema of the state that only the server may change.
    pub(crate) server_state: Option<Value>,
    pub(crate) text: Option<WriteText>,
    /// The schema of the user's answer, for a component that waits for one.
    pub(crate) output: Option<Value>,
}

/// The component of a registered tool.
pub(crate) struct RegisteredComponent {
    pub(crate) name: Text,
    pub(crate) environment: Environment,
    /// The schema of the props, without the property that names an instance.
    pub(crate) props: Value,
    pub(crate) state: Option<CheckedSchema>,
    pub(crate) server_state: Option<Value>,
    pub(crate) text: Option<WriteText>,
    pub(crate) output: Option<CheckedSchema>,
}

/// A schema, and the check of values against it.
pub(crate) struct CheckedSchema {
    pub(crate) schema: Value,
    check: ArgumentCheck,
}

impl CheckedSchema {
    fn new(mut schema: Value, limits: SchemaLimits) -> Result<Self, String> {
        schema::normalise(&mut schema);
        schema::lint(&schema, limits)?;
        let check = ArgumentCheck::new(&schema, limits)?;
        Ok(Self { schema, check })
    }

    /// Returns the faults of a value, for people and models.
    pub(crate) fn faults(&self, value: &Value) -> Option<String> {
        self.check.faults(&self.schema, value)
    }
}

impl RegisteredComponent {
    /// Returns the declaration for TypeScript, without actions.
    pub(in crate::tool) fn declaration<'a>(&'a self, tool: &'a str) -> ComponentDeclaration<'a> {
        let schema = |checked: &'a Option<CheckedSchema>| checked.as_ref().map(|checked| &checked.schema);
        ComponentDeclaration::new(&self.name, tool, &self.props)
            .state(schema(&self.state))
            .server_state(self.server_state.as_ref())
            .output(schema(&self.output))
    }

    pub(in crate::tool) fn check(parts: ComponentParts, limits: &Limits) -> Result<Self, Error> {
        let ComponentParts { name, environment, mut props, state, mut server_state, text, output } = parts;
        schema::normalise(&mut props);
        server_state.iter_mut().for_each(schema::normalise);
        let checked = |what: &str, schema: Option<Value>| {
            let checked = schema.map(|schema| CheckedSchema::new(schema, SchemaLimits::from(limits)));
            let refused = |reason: String| Error::invalid_tool(name.clone(), format!("its {what}: {reason}"));
            checked.transpose().map_err(refused)
        };
        let (state, output) = (checked("state", state)?, checked("output", output)?);
        Ok(Self { name, environment, props, state, server_state, text, output })
    }
}
