use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Text;

/// The description of a tool for models and clients: its name, its purpose and the JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// The name: 1 to 64 of `[A-Za-z0-9_-]`, which every provider accepts.
    pub name: Text,
    /// The purpose and the result, written for the model.
    pub description: Text,
    /// The JSON Schema of the arguments, always of type `object`.
    pub input_schema: Value,
    /// The side that runs the tool. Default: the server.
    #[serde(default)]
    pub side: ToolSide,
    /// Requests and the arguments they should lead to. The model reads them after the description; they help weak models
    /// most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// A short name for people, which clients show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
}

/// The side that runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSide {
    /// A function of the host application, in this process.
    #[default]
    Server,
    /// The client: it gets the call and posts the output.
    FrontEnd,
}

/// A request in the words of a user, and the arguments of the call that should follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    /// The request.
    pub request: Text,
    /// The arguments of the call.
    pub arguments: Value,
}

impl ToolSpec {
    /// Creates the description of a server tool.
    #[must_use]
    pub fn new(name: impl Into<Text>, description: impl Into<Text>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            side: ToolSide::Server,
            examples: Vec::new(),
            title: None,
        }
    }

    /// Makes it a tool that the client runs.
    #[must_use]
    pub fn front_end(mut self) -> Self {
        self.side = ToolSide::FrontEnd;
        self
    }

    /// Returns the description and the examples, as the model reads them.
    #[must_use]
    pub fn model_description(&self) -> String {
        let mut text = self.description.as_str().to_owned();
        for (index, example) in self.examples.iter().enumerate() {
            text.push_str(if index == 0 { "\nExamples:\n" } else { "\n" });
            let request = Value::from(example.request.as_str());
            text.push_str(&format!("{request} -> {}", example.arguments));
        }
        text
    }
}

/// An error that occurs when a tool's name is not 1 to 64 of `[A-Za-z0-9_-]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidToolName(());

impl fmt::Display for InvalidToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool name is 1 to 64 letters, digits, '_' or '-'")
    }
}

impl std::error::Error for InvalidToolName {}

/// Checks a tool's name against what every provider accepts.
///
/// # Errors
///
/// Returns an error if the name is empty, longer than 64 bytes, or has a character other than `[A-Za-z0-9_-]`.
pub fn check_tool_name(name: &str) -> Result<(), InvalidToolName> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        Ok(())
    } else {
        Err(InvalidToolName(()))
    }
}

/// The names that every object in JavaScript inherits.
const INHERITED: [&str; 13] = [
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "prototype",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Returns `true` if every object in JavaScript inherits a member of this name. A client that keeps its tools in an
/// object would find that member instead of a tool, so no tool may have such a name. A model may still call one.
#[must_use]
pub fn is_inherited_in_javascript(name: &str) -> bool {
    INHERITED.contains(&name)
}
