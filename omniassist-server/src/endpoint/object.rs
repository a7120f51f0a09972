use omniassist_core::message::Message;
use omniassist_core::run::{ClientAbilities, ToolUse};
use omniassist_core::{RunRequest, Text, check_tool_name};
use schemars::JsonSchema;
use serde_json::Value;

use crate::tool::schema;
use crate::{Error, Result};

/// Something that the assistant makes out of an input, as JSON of a given shape: `POST /object/{name}`, for the AI
/// SDK's `useObject`.
///
/// The model is asked for an answer that follows the schema, and its text is streamed as it comes. How strictly it is
/// kept to the schema is the provider's; the client checks the whole object. With the AI SDK, the same schema stands
/// in the page, as zod.
#[derive(Debug, Clone)]
#[must_use = "an object is not made until it is given to a builder"]
pub struct ObjectEndpoint {
    name: Text,
    instruction: Text,
    schema: Value,
    server_tools: bool,
}

impl ObjectEndpoint {
    /// An object of type `T`. The name is 1 to 64 of `[A-Za-z0-9_-]`; the instruction tells the model what to make of
    /// the input, which it is given after it.
    pub fn new<T: JsonSchema>(name: impl Into<Text>, instruction: impl Into<Text>) -> Self {
        Self::with_schema(name, instruction, schema::generate::<T>())
    }

    /// An object with a JSON Schema made elsewhere. It must be of type `object`.
    pub fn with_schema(name: impl Into<Text>, instruction: impl Into<Text>, schema: Value) -> Self {
        Self { name: name.into(), instruction: instruction.into(), schema, server_tools: false }
    }

    /// Whether the model may use the server's tools before it answers. What it says between calls then stands in the
    /// answer, where the client expects JSON and nothing else; tell it not to. Default: no tools.
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools;
        self
    }

    /// Its name in the path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its JSON Schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Checks it, and brings its schema into the form that providers take.
    pub(crate) fn checked(mut self) -> Result<Self> {
        let refuse = |reason: &str| Error::configuration(format!("object `{}`: {reason}", self.name));
        check_tool_name(&self.name).map_err(|_| refuse("its name is not 1 to 64 of [A-Za-z0-9_-]"))?;
        if matches!(self.name.as_str(), "stop" | "stream") {
            return Err(refuse("this name is that of a route"));
        }
        if self.instruction.trim().is_empty() {
            return Err(refuse("it has no instruction; a model needs one to know what to make"));
        }
        self.schema = schema::of_answer(self.schema.clone()).map_err(|reason| refuse(&reason))?;
        Ok(self)
    }

    /// The name that the provider is given for the schema, and the schema.
    pub(crate) fn response_schema(&self) -> (Text, Value) {
        (self.name.clone(), self.schema.clone())
    }

    /// What the model is asked.
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
