use omniassist_core::message::Message;
use omniassist_core::run::{ClientAbilities, ToolUse};
use omniassist_core::{Limits, RunRequest, Text, check_tool_name};
use schemars::JsonSchema;
use serde_json::Value;

use crate::tool::schema;
use crate::{Error, Result};

/// A JSON object that the assistant makes from an input: `POST /object/{name}`, for the AI SDK's `useObject`.
///
/// The model is asked for an answer that follows the schema, and its text is streamed as it grows. Providers enforce the
/// schema more or less strictly; the client checks the complete object. With the AI SDK, the page has the same schema
/// in zod.
#[derive(Debug, Clone)]
#[must_use = "an object endpoint does nothing until it is given to a builder"]
pub struct ObjectEndpoint {
    name: Text,
    instruction: Text,
    schema: Value,
    server_tools: bool,
}

impl ObjectEndpoint {
    /// Creates an endpoint for objects of type `T`. The name is 1 to 64 of `[A-Za-z0-9_-]`. The instruction tells the
    /// model what to make of the input, which follows it.
    pub fn new<T: JsonSchema>(name: impl Into<Text>, instruction: impl Into<Text>) -> Self {
        Self::with_schema(name, instruction, schema::generate::<T>())
    }

    /// Creates an endpoint with a JSON Schema, which must be of type `object`.
    pub fn with_schema(name: impl Into<Text>, instruction: impl Into<Text>, schema: Value) -> Self {
        Self { name: name.into(), instruction: instruction.into(), schema, server_tools: false }
    }

    /// Lets the model use the server's tools before it answers. Text between its calls becomes part of the answer, where
    /// the client expects only JSON; instruct the model not to write any. Default: no tools.
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools;
        self
    }

    /// Returns the name in the path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the JSON Schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Checks the settings, and converts the schema into the form that providers take.
    pub(crate) fn checked(mut self, limits: &Limits) -> Result<Self> {
        let refuse = |reason: &str| Error::configuration(format!("object `{}`: {reason}", self.name));
        check_tool_name(&self.name).map_err(|_| refuse("the name is not 1 to 64 of [A-Za-z0-9_-]"))?;
        if matches!(self.name.as_str(), "stop" | "stream") {
            return Err(refuse("the name is reserved for a route"));
        }
        if self.instruction.trim().is_empty() {
            return Err(refuse("the instruction is empty; the model needs one"));
        }
        self.schema =
            schema::of_answer(self.schema.clone(), limits.into()).map_err(|reason| refuse(&reason))?;
        Ok(self)
    }

    /// Returns the schema and its name for the provider.
    pub(crate) fn response_schema(&self) -> (Text, Value) {
        (self.name.clone(), self.schema.clone())
    }

    pub(crate) fn request(&self, input: &str) -> RunRequest {
        let question = format!("{}\n\nInput:\n{input}", self.instruction);
        let mut request = RunRequest::new(vec![Message::user("input", question)]);
        request.abilities = ClientAbilities::none();
        if !self.server_tools {
            request.tool_use = ToolUse::without_server_tools();
        }
        request
    }
}
