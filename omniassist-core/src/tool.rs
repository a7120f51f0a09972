use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Text;

/// What a model and a client are told about a tool: its name, purpose and the JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// 1 to 64 of `[A-Za-z0-9_-]`: what every provider accepts.
    pub name: Text,
    /// When to use it and what it gives, written for the model.
    pub description: Text,
    /// JSON Schema of the arguments; always of type `object`.
    pub input_schema: Value,
    /// Who runs it. Default: the server.
    #[serde(default)]
    pub side: ToolSide,
    /// Requests and the arguments they should lead to. They follow the description on the way to the model, and
    /// help weak models most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// A short human name for the client's UI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
}

/// Who runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSide {
    /// A function of the host application, in this process.
    #[default]
    Server,
    /// The client: the call is handed over and its output posted back.
    FrontEnd,
}

/// A request, as a user would put it, and the arguments that the tool should then be called with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    /// What a user says.
    pub request: Text,
    /// The arguments of the call that should follow.
    pub arguments: Value,
}

impl ToolSpec {
    /// A server tool.
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

    /// The same tool, run by the client.
    #[must_use]
    pub fn front_end(mut self) -> Self {
        self.side = ToolSide::FrontEnd;
        self
    }

    /// The description followed by the examples, as a model is given it.
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

/// A tool's name is not 1 to 64 of `[A-Za-z0-9_-]`.
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
/// When the name is empty, longer than 64 bytes, or holds anything but `[A-Za-z0-9_-]`.
pub fn check_tool_name(name: &str) -> Result<(), InvalidToolName> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        Ok(())
    } else {
        Err(InvalidToolName(()))
    }
}

/// What every object in JavaScript has by inheritance.
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

/// Whether every object in JavaScript has something of this name. A client that keeps its tools in an object would find
/// that in the place of a tool, so no tool may be called so. A model may well call one that does not exist.
#[must_use]
pub fn is_inherited_in_javascript(name: &str) -> bool {
    INHERITED.contains(&name)
}
