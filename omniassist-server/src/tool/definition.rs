use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::{Text, ToolExample, ToolSide, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::form;
use super::label::Summary;
use super::schema;
use super::state::StateNeed;
use super::{
    Approval, IntoToolFuture, IntoToolOutput, ToolContext, ToolDescription, ToolError, ToolFuture,
    ToolHandler, ToolParameters,
};

/// Something that a model can call: a function of the host, or of the client's page.
///
/// The name (1 to 64 of `[A-Za-z0-9_-]`), the description and the schema are checked when the tool is registered.
/// Cloning is cheap; the clones share the function.
///
/// ```
/// use omniassist_server::tool::{Tool, ToolError};
///
/// let tool = Tool::new("ping", "Whether the warehouse answers", async || Ok::<_, ToolError>("pong"))
///     .title("Ask the warehouse")
///     .example("Is the warehouse there?", serde_json::json!({}));
/// assert_eq!(tool.name(), "ping");
/// ```
#[derive(Clone)]
#[must_use = "a tool does nothing until it is registered"]
pub struct Tool {
    pub(super) spec: ToolSpec,
    pub(super) call: Option<Call>,
    pub(super) timeout: Option<Duration>,
    pub(super) max_output_bytes: Option<usize>,
    pub(super) approval: Option<Approval>,
    pub(super) summary: Option<Summary>,
    pub(super) is_form: bool,
    pub(super) state: Vec<StateNeed>,
    pub(super) arguments: Vec<&'static str>,
}

pub(super) type Call = Arc<dyn Fn(ToolContext) -> ToolFuture + Send + Sync>;

impl Tool {
    fn from_spec(spec: ToolSpec, call: Option<Call>) -> Self {
        Self {
            spec,
            call,
            timeout: None,
            max_output_bytes: None,
            approval: None,
            summary: None,
            is_form: false,
            state: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// A tool that runs here: an async function whose parameters are extractors. Its schema is that of its
    /// [`Args`](super::Args) parameter; without one it takes no arguments.
    ///
    /// A closure serves too. One that captures something is best written `move |parameter| { … async move { … } }`:
    /// an `async move |parameter| { … }` that captures is no [`Fn`], because its future borrows from it.
    pub fn new<F, P>(name: impl Into<Text>, description: impl Into<Text>, function: F) -> Self
    where
        F: ToolHandler<P>,
        P: ToolParameters,
        F::Future: IntoToolFuture<Output: IntoToolOutput> + Send + 'static,
    {
        let mut needs = ToolDescription::default();
        P::describe(&mut needs);
        let schema = needs.schema.unwrap_or_else(schema::no_arguments);
        let call: Call = Arc::new(move |call| match P::from_call(&call) {
            Ok(parameters) => {
                let future = function.call(parameters);
                Box::pin(async move { future.await.into_output(&call) })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        });
        let mut tool = Self::from_spec(ToolSpec::new(name, description, schema), Some(call));
        tool.state = needs.state;
        tool.arguments = needs.arguments;
        tool
    }

    /// A tool that runs here and whose schema is only known at run time. The function gets the arguments, which fit
    /// the schema, as a tree. It finds the host's values by [`ToolContext::state`], and nothing checks beforehand
    /// that they are there.
    ///
    /// ```
    /// use omniassist_server::tool::{Tool, ToolContext, ToolError};
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    /// let tool = Tool::from_fn_with_schema("echo", "Says it again", schema, |arguments: Value, _: ToolContext| async move {
    ///     Ok::<_, ToolError>(arguments["text"].clone())
    /// });
    /// ```
    pub fn from_fn_with_schema<F, Fut>(
        name: impl Into<Text>,
        description: impl Into<Text>,
        schema: Value,
        function: F,
    ) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolOutput> + Send + 'static,
    {
        let call: Call = Arc::new(move |call| match call.arguments().to() {
            Ok(arguments) => {
                let future = function(arguments, call.clone());
                Box::pin(async move { future.await.into_output(&call) })
            }
            Err(error) => Box::pin(std::future::ready(Err(ToolError::internal(error)))),
        });
        Self::from_spec(ToolSpec::new(name, description, schema), Some(call))
    }

    /// A tool that the client runs: the call is handed over with its arguments, of type `T`, and the client posts the
    /// output. The settings [`timeout`](Self::timeout) and [`max_output_bytes`](Self::max_output_bytes) do not matter
    /// to it.
    ///
    /// ```
    /// use omniassist_server::tool::Tool;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Navigate {
    ///     /// Path of the page.
    ///     path: String,
    /// }
    ///
    /// let tool = Tool::front_end::<Navigate>("navigate", "Opens a page of the application");
    /// ```
    pub fn front_end<T: JsonSchema>(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self::front_end_with_schema(name, description, schema::generate::<T>())
    }

    /// A tool that the client runs, with a JSON Schema made elsewhere. It must be of type `object`.
    pub fn front_end_with_schema(name: impl Into<Text>, description: impl Into<Text>, schema: Value) -> Self {
        Self::from_spec(ToolSpec::new(name, description, schema).front_end(), None)
    }

    /// The built-in tool `request_input`: the model writes a question and the JSON Schema of a form, the run waits
    /// while the client shows it, and what the user enters is checked against the schema before the model reads it.
    ///
    /// The client gets the call with `{"message", "schema"}` and gives back the entered object as its output (AG-UI
    /// clients get an interrupt with a `responseSchema`). A form lapses after
    /// [`Limits::approval_lifetime`](omniassist_core::Limits::approval_lifetime). A client that cannot show forms is
    /// not offered the tool.
    pub fn request_input() -> Self {
        let mut tool =
            Self::front_end_with_schema(form::REQUEST_INPUT, form::DESCRIPTION, form::arguments_schema());
        tool.is_form = true;
        tool
    }

    /// Changes the name. Use it for [`request_input`](Self::request_input), whose name a client may expect to be another
    /// one, such as `requestInput`.
    pub fn rename(mut self, name: impl Into<Text>) -> Self {
        self.spec.name = name.into();
        self
    }

    /// Which calls need somebody's approval before they run. A front-end tool asks for itself: for one, registration
    /// fails. Default: none.
    pub fn requires_approval(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// A short name for people, which clients show while the tool runs. Default: none; clients show the name.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Sets what people read of a call's arguments: one line, such as the amount and the customer of a refund. Clients
    /// show it in place of the arguments, and an approval's question ends with it. The model does not see it.
    ///
    /// `T` is usually the type of the tool's [`Args`](super::Args). Arguments that are not a `T` have no summary. Line
    /// breaks and invisible characters are replaced, and a text of more than 300 bytes is cut off. Default: none.
    ///
    /// ```
    /// use omniassist_server::tool::{Approval, Args, Tool, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Refund {
    ///     order: u64,
    ///     cents: u64,
    /// }
    ///
    /// async fn refund(Args(refund): Args<Refund>) -> Result<String, ToolError> {
    ///     Ok(format!("Refunded order {}.", refund.order))
    /// }
    ///
    /// let tool = Tool::new("refund_order", "Gives a customer their money back", refund)
    ///     .title("Refund order")
    ///     .summary(|refund: &Refund| format!("{} cents for order {}", refund.cents, refund.order))
    ///     .requires_approval(Approval::always());
    /// ```
    pub fn summary<T, S>(mut self, summary: impl Fn(&T) -> S + Send + Sync + 'static) -> Self
    where
        T: DeserializeOwned,
        S: Into<String>,
    {
        self.summary = Some(Summary::new(summary));
        self
    }

    /// Adds a request, as a user would put it, and the arguments it should lead to. Examples follow the description
    /// on the way to the model and help weak models most; each costs tokens in every request. Registration fails when
    /// the arguments do not fit the schema. Default: none.
    pub fn example(mut self, request: impl Into<Text>, arguments: Value) -> Self {
        self.spec.examples.push(ToolExample { request: request.into(), arguments });
        self
    }

    /// How long a call may take. When the time is up the model is told so, the call's token fires, and
    /// [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) later the task is aborted. Default:
    /// [`Limits::tool_timeout`](omniassist_core::Limits::tool_timeout) (60 s).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Bytes of JSON that a call may give; more is cut off with a note. Large outputs fill the model's context.
    /// Default: [`Limits::max_tool_output_bytes`](omniassist_core::Limits::max_tool_output_bytes) (256 KiB).
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = Some(bytes);
        self
    }

    /// The name by which models call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Who runs it.
    #[must_use]
    pub fn side(&self) -> ToolSide {
        self.spec.side
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("spec", &self.spec)
            .field("timeout", &self.timeout)
            .field("max_output_bytes", &self.max_output_bytes)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
