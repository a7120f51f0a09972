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
    /// Example requests with their arguments. The model reads them after the description; weak models benefit most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// The display title, shown by clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The app that shows the calls of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<Box<ToolApp>>,
}

/// An MCP app: a document of the tool's server, which a client shows for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolApp {
    /// The name of the source that has the document, as in `GET /apps/{server}/…`.
    pub server: Text,
    /// The `ui://` address of the document.
    pub resource_uri: Text,
    /// The kind of the document.
    pub mime_type: Text,
}

impl ToolApp {
    /// The kind of all documents of apps.
    pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

    /// Creates the app of a tool.
    #[must_use]
    pub fn new(server: impl Into<Text>, resource_uri: impl Into<Text>) -> Self {
        let mime_type = Text::from_static(Self::MIME_TYPE);
        Self { server: server.into(), resource_uri: resource_uri.into(), mime_type }
    }
}

/// The side that runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSide {
    /// A function of the host application, in this process.
    #[default]
    Server,
    /// The client, which receives the call and posts the output.
    FrontEnd,
}

/// An example request of a user, and the arguments of the resulting call.
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
            app: None,
        }
    }

    /// Converts the description into that of a front-end tool.
    #[must_use]
    pub fn front_end(mut self) -> Self {
        self.side = ToolSide::FrontEnd;
        self
    }

    /// Returns the description and the examples as sent to the model.
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

/// Checks a tool's name against the rules of all providers.
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

/// The names of the members that every JavaScript object inherits.
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

/// Returns `true` if every JavaScript object inherits a member with this name. A client that stores its tools in an
/// object would find that member instead of a tool, so no tool may have such a name. A model can still call one.
#[must_use]
pub fn is_inherited_in_javascript(name: &str) -> bool {
    INHERITED.contains(&name)
}
