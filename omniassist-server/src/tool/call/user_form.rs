use omniassist_core::Text;
use serde_json::Value;

/// A form that a tool shows the user; see [`ToolContext::ask_user`](crate::ToolContext::ask_user).
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a form does nothing until a tool shows it"]
pub struct UserForm {
    pub(in crate::tool) message: Text,
    pub(in crate::tool) schema: Value,
}

impl UserForm {
    /// Creates a form: the question, and the JSON Schema of the answer. It is an object with a property for each field, and
    /// passes the same checks as the schema of a tool.
    pub fn new(message: impl Into<Text>, schema: Value) -> Self {
        Self { message: message.into(), schema }
    }
}

/// The user's answer to a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum UserAnswer {
    /// The entered values. They fit the schema of the form.
    Accepted(Value),
    /// The user did not fill the form in, for the reason that the client gave.
    Declined(Option<Text>),
}
