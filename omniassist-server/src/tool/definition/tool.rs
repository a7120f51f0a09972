use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::{Text, ToolApp, ToolExample, ToolSide, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::approval::Approval;
use super::component::ComponentParts;
use super::form;
use super::handler::{AsyncResult, IntoToolOutput, ToolFuture, ToolHandler, ToolParameters};
use super::label::Summary;
use crate::RunContext;
use crate::throttle::RateLimit;
use crate::tool::context::StateNeed;
use crate::tool::{ToolContext, ToolDescription, ToolError, schema};
use crate::visibility::Visibility;

/// A tool that a model can call: a function of the host, or of the client's page.
///
/// The name (1 to 64 of `[A-Za-z0-9_-]`, with a letter or `_` first), the description and the schema are checked when the
/// tool is registered. Cloning is cheap; the clones share the function.
///
/// ```
/// use omniassist_server::tool::{Tool, ToolError};
///
/// let tool = Tool::new("ping", "Asks the warehouse for a sign of life", async || Ok::<_, ToolError>("pong"))
///     .title("Ask the warehouse")
///     .example("Is the warehouse there?", serde_json::json!({}));
/// assert_eq!(tool.name(), "ping");
/// ```
#[derive(Clone)]
#[must_use = "a tool does nothing until it is registered"]
pub struct Tool {
    pub(in crate::tool) spec: ToolSpec,
    pub(in crate::tool) settings: ToolSettings,
    pub(in crate::tool) timeout: Option<Duration>,
    pub(in crate::tool) max_output_bytes: Option<usize>,
    pub(in crate::tool) state: Vec<StateNeed>,
    pub(in crate::tool) arguments: Vec<&'static str>,
    /// Boxed, because few tools are components.
    pub(in crate::tool) component: Option<Box<ComponentParts>>,
    /// The tools that the actions of a component call, by the name of the action.
    pub(in crate::tool) actions: Vec<(Text, Tool)>,
}

/// The settings of a tool that a registration takes as they are.
#[derive(Clone, Default)]
pub(in crate::tool) struct ToolSettings {
    /// The function. `None` if the client runs the tool.
    pub(in crate::tool) call: Option<Call>,
    pub(in crate::tool) approval: Option<Approval>,
    pub(in crate::tool) summary: Option<Summary>,
    pub(in crate::tool) tags: Vec<Text>,
    pub(in crate::tool) visibility: Option<Visibility>,
    pub(in crate::tool) rate_limits: Vec<Arc<dyn RateLimit>>,
    pub(in crate::tool) is_always_loaded: bool,
    pub(in crate::tool) is_form: bool,
    pub(in crate::tool) may_run_again: bool,
    pub(in crate::tool) is_read_only: bool,
}

pub(crate) type Call = Arc<dyn Fn(ToolContext) -> ToolFuture + Send + Sync>;

impl Tool {
    fn from_spec(spec: ToolSpec, call: Option<Call>) -> Self {
        Self {
            spec,
            settings: ToolSettings { call, ..ToolSettings::default() },
            timeout: None,
            max_output_bytes: None,
            state: Vec::new(),
            arguments: Vec::new(),
            component: None,
            actions: Vec::new(),
        }
    }

    /// Creates a tool from an async function whose parameters are extractors. Its schema is that of its
    /// [`Args`](crate::Args) parameter; without one it takes no arguments.
    ///
    /// A closure is accepted too. Its parameters need types. A closure that captures a value is best written
    /// `move |parameter: Type| { … async move { … } }`: an `async move |parameter| { … }` that captures is not a [`Fn`],
    /// because its future borrows from it.
    pub fn new<F, P>(name: impl Into<Text>, description: impl Into<Text>, function: F) -> Self
    where
        F: ToolHandler<P>,
        P: ToolParameters,
        F::Future: AsyncResult<Output: IntoToolOutput> + Send + 'static,
    {
        let mut needs = ToolDescription::default();
        P::describe(&mut needs);
        let schema = needs.schema.unwrap_or_else(schema::no_arguments);
        let call: Call = Arc::new(move |call| match P::from_call(&call) {
            Ok(parameters) => {
                let future = function.call(parameters);
                Box::pin(async move {
                    let mut future = pin!(future);
                    poll_fn(|cx| future.as_mut().poll_result(cx)).await.into_output(&call)
                })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        });
        let mut tool = Self::from_spec(ToolSpec::new(name, description, schema), Some(call));
        tool.state = needs.state;
        tool.arguments = needs.arguments;
        tool
    }

    /// Creates a tool whose schema is only known at run time. The function gets the arguments, which fit the schema, as a
    /// [`Value`]. It finds the host's values with [`ToolContext::state`]; registration does not check that they exist.
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

    /// Creates a tool that the client runs. The client gets the call with arguments of type `T`, and posts the output.
    /// [`timeout`](Self::timeout) and [`max_output_bytes`](Self::max_output_bytes) do not apply.
    ///
    /// Only the schema of `T` is used. Derive [`Serialize`](serde::Serialize) too, which reads the fields, or mark the
    /// type `#[expect(dead_code)]`; the compiler otherwise warns that the fields are never read.
    ///
    /// ```
    /// use omniassist_server::tool::Tool;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// #[expect(dead_code, reason = "only the schema counts")]
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

    /// Creates a tool that the client runs, with this JSON Schema. It must be of type `object`.
    pub fn front_end_with_schema(name: impl Into<Text>, description: impl Into<Text>, schema: Value) -> Self {
        Self::from_spec(ToolSpec::new(name, description, schema).front_end(), None)
    }

    /// Makes the tool a component with these actions.
    pub(crate) fn component(mut self, parts: ComponentParts, actions: Vec<(Text, Self)>) -> Self {
        self.component = Some(Box::new(parts));
        self.actions = actions;
        self
    }

    /// Puts a function around that of the tool.
    pub(crate) fn around(
        mut self,
        around: impl Fn(Call, ToolContext) -> ToolFuture + Send + Sync + 'static,
    ) -> Self {
        let call = self.settings.call.take();
        self.settings.call =
            call.map(|call| -> Call { Arc::new(move |context| around(Arc::clone(&call), context)) });
        self
    }

    /// Creates the built-in tool `request_input`. The model writes a question and the JSON Schema of a form, and the run
    /// waits while the client shows it. The answer of the user is checked against the schema before the model reads it.
    ///
    /// The client gets the call with `{"message", "schema"}` and posts the entered object as its output (AG-UI clients get
    /// an interrupt with a `responseSchema`). A form expires after
    /// [`Limits::approval_lifetime`](omniassist_core::Limits::approval_lifetime). The model is not offered the tool when
    /// the client cannot show forms.
    pub fn request_input() -> Self {
        let mut tool =
            Self::front_end_with_schema(form::REQUEST_INPUT, form::DESCRIPTION, form::arguments_schema());
        tool.settings.is_form = true;
        tool
    }

    /// Changes the name. Use it for [`request_input`](Self::request_input), whose name a client may expect to be another
    /// one, such as `requestInput`.
    pub fn rename(mut self, name: impl Into<Text>) -> Self {
        self.spec.name = name.into();
        self
    }

    /// Sets the policy that decides which calls need an approval. Registration fails for a front-end tool, whose client
    /// requests approval itself. Default: none.
    pub fn requires_approval(mut self, approval: Approval) -> Self {
        self.settings.approval = Some(approval);
        self
    }

    /// Sets a short name for people, such as “Refund order”. Clients get it in `/manifest.json` and with each call: in the
    /// AI SDK as the `title` of the tool part (with `?ai-sdk=7`), and as
    /// `metadata.omniassist.tools[toolCallId].title` of the message. Default: none; clients show the name.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Sets the app that shows the calls. Clients get it with each call: in the AI SDK as `toolMetadata.app` of the tool part
    /// (with `?ai-sdk=7`), and as `metadata.omniassist.tools[toolCallId].app` of the message. Default: none. The model does
    /// not see it.
    pub fn app(mut self, app: ToolApp) -> Self {
        self.spec.app = Some(Box::new(app));
        self
    }

    /// Sets the summary of a call's arguments for people: one line, such as the amount and the customer of a refund. An
    /// approval's question ends with it, and clients get it with each call, as
    /// `metadata.omniassist.tools[toolCallId].summary` of the message in the AI SDK. The model does not see it.
    ///
    /// `T` is usually the type of the tool's [`Args`](crate::Args). Arguments that are not a `T` have no summary. Line
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
        self.settings.summary = Some(Summary::new(summary));
        self
    }

    /// Adds a tag, by which [`prepare`](crate::AssistantBuilder::prepare) can hide tools of a run. Neither models nor
    /// clients see it. Default: none.
    pub fn tag(mut self, tag: impl Into<Text>) -> Self {
        self.settings.tags.push(tag.into());
        self
    }

    /// Sets the condition on which a caller sees the tool. For every other caller the tool does not exist:
    ///
    /// - It is not in `/manifest.json`, `/types.d.ts` and the requests to the provider.
    /// - A call of it is answered like a call of an unknown tool. So is a call that was approved earlier.
    ///
    /// The condition gets the principal and the extensions of the HTTP request, and nothing that the client posted. A
    /// run that the host starts with [`Assistant::run`](crate::Assistant::run) has neither. A condition that panics
    /// counts as false. Texts of a conversation that name the tool stay in it. Default: every caller.
    ///
    /// ```
    /// use omniassist_server::RunContext;
    /// use omniassist_server::tool::{Tool, ToolError};
    ///
    /// #[derive(Clone, PartialEq)]
    /// enum Role {
    ///     Viewer,
    ///     Admin,
    /// }
    ///
    /// async fn close_shop() -> Result<&'static str, ToolError> {
    ///     Ok("closed")
    /// }
    ///
    /// // A middleware puts the role into the extensions of the request.
    /// let tool = Tool::new("close_shop", "Closes the shop", close_shop)
    ///     .tag("admin")
    ///     .visible_to(|run: &RunContext| run.extensions().get() == Some(&Role::Admin));
    /// # let _ = Role::Viewer;
    /// ```
    pub fn visible_to(mut self, condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        self.settings.visibility = Some(Visibility::new(condition));
        self
    }

    /// Adds a limit on how often the tool may be called, such as an `InMemoryRateLimit` of [`throttle`](crate::throttle). Each
    /// limit is checked, in the order in which they were added, until one refuses the call. Default: none.
    ///
    /// A call over the limit does not run. The model reads when to try again, and the run continues. A call counts just
    /// before it runs, so one that a user or a [`before_tool`](crate::AssistantBuilder::before_tool) function refused does
    /// not count. The tool's timeout includes the check. Tools of the client cannot have a limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use omniassist_server::throttle::Attempt;
    /// use omniassist_server::tool::{Tool, ToolError};
    ///
    /// async fn refund_order() -> Result<&'static str, ToolError> {
    ///     Ok("refunded")
    /// }
    ///
    /// // With the feature `rate-limit`: `.rate_limit(InMemoryRateLimit::per_hour(10))`.
    /// let tool = Tool::new("refund_order", "Refunds an order", refund_order).rate_limit(|attempt: &Attempt<'_>| {
    ///     if attempt.principal().is_anonymous() { Err(Duration::from_secs(3600)) } else { Ok(()) }
    /// });
    /// ```
    pub fn rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.settings.rate_limits.push(Arc::new(limit));
        self
    }

    /// Exempts the tool from [deferral](crate::AssistantBuilder::defer_tools_above), so that models always receive it.
    /// Use it for the few tools that most conversations need. Front-end tools are always exempt. Default: deferred if
    /// there are many tools.
    pub fn always_loaded(mut self) -> Self {
        self.settings.is_always_loaded = true;
        self
    }

    /// States that calls of the tool change nothing. A call during which the server stopped is run again when its stored
    /// run is recovered.
    ///
    /// Default: a call that was under way is not run again, because it may have taken effect. The model and the user read
    /// that its outcome is not known, and the audit log records it. Registration fails for a front-end tool, which the
    /// server does not run.
    ///
    /// ```
    /// use omniassist_server::tool::{Tool, ToolError};
    ///
    /// async fn open_orders() -> Result<u32, ToolError> {
    ///     Ok(3)
    /// }
    ///
    /// let tool = Tool::new("open_orders", "Counts the open orders", open_orders).read_only();
    /// ```
    pub fn read_only(mut self) -> Self {
        self.settings.is_read_only = true;
        self.idempotent()
    }

    /// States that a call which runs twice takes effect once. A call during which the server stopped is run again when its
    /// stored run is recovered, with the same [`ToolContext::idempotency_key`]. Pass this key on to what takes effect, such
    /// as a unique column of a table or a payment API.
    ///
    /// Default: as for [`read_only`](Self::read_only). Registration fails for a front-end tool.
    ///
    /// ```
    /// use omniassist_server::tool::{Tool, ToolContext, ToolError};
    ///
    /// async fn refund_order(call: ToolContext) -> Result<&'static str, ToolError> {
    ///     // insert into refund (key, …) values ($1, …) on conflict (key) do nothing
    ///     let key = call.idempotency_key();
    /// #   let _ = key;
    ///     Ok("refunded")
    /// }
    ///
    /// let tool = Tool::new("refund_order", "Refunds an order", refund_order).idempotent();
    /// ```
    pub fn idempotent(mut self) -> Self {
        self.settings.may_run_again = true;
        self
    }

    /// Adds a request, in the words of a user, and the arguments it should lead to. The model reads the examples after the
    /// description. They help weak models most, and each costs tokens in every request. Registration fails when the
    /// arguments do not fit the schema. Default: none.
    pub fn example(mut self, request: impl Into<Text>, arguments: Value) -> Self {
        self.spec.examples.push(ToolExample { request: request.into(), arguments });
        self
    }

    /// Sets the time that a call may take. After it the model reads an error, the call's token is cancelled, and
    /// [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) later the task is aborted. Default:
    /// [`Limits::tool_timeout`](omniassist_core::Limits::tool_timeout) (60 s).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the bytes of JSON that an output may have. A longer one is cut off with a note. Large outputs fill the model's
    /// context. Default: [`Limits::max_tool_output_bytes`](omniassist_core::Limits::max_tool_output_bytes) (256 KiB).
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = Some(bytes);
        self
    }

    /// Returns the name by which models call the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns the side that runs the tool.
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
