use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use omniassist_core::event::ComponentEvent;
use omniassist_core::{JsonText, RunEvent, Text, check_tool_name};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agent_ask::AgentAsk;
use super::from_run::FromRun;
use super::idempotency_key;
use super::state::StateMap;
use super::update::{OpenInnerCall, Updates};
use crate::tool::output::{self, OutputLimits};
use crate::tool::{ToolError, typed};
use crate::{CancellationToken, RunContext, one_line::OneLine};

/// Bytes of the id of data and of an activity, as in [`Limits::max_id_bytes`](omniassist_core::Limits::max_id_bytes).
const MAX_ID_BYTES: usize = 256;

/// One call of a tool. It is an extractor, and all other extractors are made from it. Cloning is cheap.
///
/// A task that outlives the call may keep it.
///
/// ```
/// use std::time::Duration;
///
/// use omniassist_server::tool::{ToolContext, ToolError};
///
/// async fn export(call: ToolContext) -> Result<&'static str, ToolError> {
///     for percent in [25, 50, 75] {
///         call.progress(serde_json::json!({ "percent": percent }));
///         tokio::select! {
///             () = tokio::time::sleep(Duration::from_millis(10)) => {}
///             () = call.cancelled() => return Err(ToolError::new("The export was stopped.")),
///         }
///     }
///     Ok("exported")
/// }
/// # let _ = omniassist_server::tool::Tool::new("export", "Exports all orders", export);
/// ```
#[derive(Clone)]
pub struct ToolContext {
    inner: Arc<CallContext>,
}

pub(crate) struct CallContext {
    pub(crate) call_id: Text,
    pub(crate) tool: Text,
    pub(crate) arguments: JsonText,
    pub(crate) run: RunContext,
    pub(crate) state: Arc<StateMap>,
    pub(crate) cancel: CancellationToken,
    pub(crate) updates: Arc<Updates>,
    pub(crate) limits: OutputLimits,
    /// The state of a call that waited for the user.
    pub(crate) resumed: Option<JsonText>,
    /// The settings that calls of the tool inherit. Only [`run`](crate::tool::call::run) knows their type.
    pub(crate) inherited: Option<Arc<dyn Any + Send + Sync>>,
    /// A value of the layer that made the tool.
    pub(crate) attached: Option<Arc<dyn Any + Send + Sync>>,
}

impl From<CallContext> for ToolContext {
    fn from(call: CallContext) -> Self {
        Self { inner: Arc::new(call) }
    }
}

impl ToolContext {
    /// Returns the id of the call, unique within the conversation.
    ///
    /// It is not an idempotency key, because another conversation can have the same id. Use
    /// [`idempotency_key`](Self::idempotency_key).
    #[must_use]
    pub fn call_id(&self) -> &Text {
        &self.inner.call_id
    }

    /// Returns a key that no other call has: the id of the run and the id of the call. It has at most 255 characters, all
    /// of them letters, digits or one of `-_.:/`.
    ///
    /// A call that runs again after the server stopped ([`Tool::idempotent`](crate::Tool::idempotent)) has the same key. So
    /// has a call that waited for an approval in a stored run. A repeated question is another run, so its calls have other
    /// keys.
    ///
    /// The key makes an effect happen once: store it in a unique column in the transaction of the effect, or send it as
    /// the `Idempotency-Key` of an API. Without a store it protects against retries within the tool.
    ///
    /// ```
    /// use omniassist_server::tool::{Args, ToolContext, ToolError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Refund {
    ///     charge: String,
    /// }
    ///
    /// /// Returns the request to a payment API, which refunds once for each key.
    /// fn refund(Args(refund): Args<Refund>, call: &ToolContext) -> Result<http::Request<String>, ToolError> {
    ///     Ok(http::Request::post("https://payments.example/refunds")
    ///         .header("idempotency-key", call.idempotency_key())
    ///         .body(format!("charge={}", refund.charge))?)
    /// }
    /// ```
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key::of(self.inner.run.run_id(), &self.inner.call_id)
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn tool_name(&self) -> &Text {
        &self.inner.tool
    }

    /// Returns the arguments as the model wrote them. They fit the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &JsonText {
        &self.inner.arguments
    }

    /// Returns the arguments as a type. Use it in functions such as [`before_tool`](crate::AssistantBuilder::before_tool);
    /// a tool has the extractor [`Args`](crate::Args).
    ///
    /// ```
    /// use omniassist_server::tool::{ToolContext, ToolDecision, ToolError};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Refund {
    ///     cents: u64,
    /// }
    ///
    /// async fn large_refunds(call: ToolContext) -> Result<ToolDecision, ToolError> {
    ///     if call.tool_name() == "refund" && call.args::<Refund>()?.cents > 10_000 {
    ///         return Ok(ToolDecision::RequireApproval(None));
    ///     }
    ///     Ok(ToolDecision::Allow)
    /// }
    /// # use omniassist_server::{Assistant, testing::ScriptedProvider};
    /// # let _ = Assistant::builder(ScriptedProvider::new()).before_tool(large_refunds);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error for the model with the fault of the arguments, which fit the tool's schema but not the type.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        let misfit = |error| ToolError::new(format!("The arguments do not fit: {error}."));
        typed::read(&self.inner.arguments).map_err(misfit)
    }

    /// Returns the run that the call belongs to.
    #[must_use]
    pub fn run(&self) -> &RunContext {
        &self.inner.run
    }

    /// Returns the value of this type that the host registered, if there is one.
    #[must_use]
    pub fn state<T: Clone + 'static>(&self) -> Option<T> {
        self.inner.state.get::<T>().cloned()
    }

    /// Makes a parameter that needs nothing of the call but its run.
    ///
    /// # Errors
    ///
    /// Returns the error of the parameter.
    pub fn extract<T: FromRun>(&self) -> Result<T, ToolError> {
        T::from_run(&self.inner.run, &self.inner.state)
    }

    /// Counts a call that the tool makes in the name of its own. Returns `true` if another one is open.
    pub(in crate::tool) fn open_inner_call(&self) -> (OpenInnerCall<'_>, bool) {
        self.inner.updates.open_call()
    }

    /// Asks an agent; see [`Agents`](crate::Agents).
    pub(in crate::tool) fn ask_agent(&self, ask: AgentAsk) {
        self.inner.updates.asked(ask);
    }

    /// Returns an error of an answer. One that makes the call wait is its end, also if the tool returns something else.
    pub(in crate::tool) fn noted(&self, error: ToolError) -> ToolError {
        if error.is_waiting() {
            self.inner.updates.wait();
        }
        error
    }

    pub(in crate::tool) fn resumed(&self) -> Option<&JsonText> {
        self.inner.resumed.as_ref()
    }

    /// Waits until the call is cancelled: the client left, the run was stopped, or the tool's time is up. The task is
    /// aborted [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) later. Dropping
    /// the future only stops the waiting.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.inner.cancel.cancelled()
    }

    /// Returns `true` if the call is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancel.is_cancelled()
    }

    /// Returns a token for other work, which is cancelled with the call. Cancelling the token does not end the call.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.inner.cancel.child()
    }

    /// Shows the user a preliminary output. The next one replaces it, and in the end the real output. The model does not
    /// see it.
    ///
    /// This method does not wait. When the user's connection is slower than the tool, the oldest values are left out:
    /// at most 16 values, of
    /// [`Limits::max_unread_tool_bytes`](omniassist_core::Limits::max_unread_tool_bytes), wait. A value larger than the tool's
    /// output cap is cut like an output. A value without a JSON form is logged and left out, as is a value after the end of the
    /// call.
    pub fn progress(&self, value: impl Serialize) {
        match output::to_json(&value, self.inner.limits) {
            Ok(value) => self.inner.updates.progress(value),
            Err(error) => self.left_out("progress", error),
        }
    }

    /// Changes the state that the run shares with its client (AG-UI), and returns the value of the closure. The closure
    /// should not block.
    ///
    /// The client gets the difference; several changes become one when it reads slowly. Other formats have no shared
    /// state and send nothing. The tools of an agent that the run asks, and tools that another tool calls, have the same state.
    /// A tree of agents on a WebSocket has none.
    pub fn update_shared_state<T>(&self, update: impl FnOnce(&mut Value) -> T) -> T {
        let given = self.inner.run.state().update(update);
        self.inner.updates.state_changed();
        given
    }

    /// Sends the client data that it keeps with the message: a `data-NAME` part in the AI SDK, a `CUSTOM` event in AG-UI.
    /// With an `id`, later data of the same name and id replaces it. The model does not see it.
    ///
    /// This method does not wait. Data is logged and left out in these cases:
    ///
    /// - It has no JSON form, is larger than the tool's output cap, or has too many levels to be posted back.
    /// - Its name is not 1 to 64 of `[A-Za-z0-9_-]`, or its id is empty, longer than 256 bytes, or contains a control
    ///   character.
    /// - The client has not read the earlier data and activities of this call: 1,024 of them, or
    ///   [`Limits::max_unread_tool_bytes`](omniassist_core::Limits::max_unread_tool_bytes).
    pub fn data(&self, name: &str, id: Option<&str>, value: impl Serialize) {
        self.send_data(name, id, &value, false);
    }

    /// Sends the client data that it does not keep. See [`data`](Self::data).
    pub fn transient_data(&self, name: &str, value: impl Serialize) {
        self.send_data(name, None, &value, true);
    }

    /// Shows an AG-UI activity of a kind that the client can display. A later one of the same id replaces it. `content`
    /// must be a JSON object. Other formats show nothing. The limits of [`data`](Self::data) apply.
    pub fn activity(&self, id: &str, kind: &str, content: impl Serialize) {
        let sent = Self::check_id(id).and_then(|()| self.to_json(&content)).and_then(|content| {
            if !content.is_object() {
                return Err("its content is not an object".to_owned());
            }
            self.send(RunEvent::ActivitySnapshot { id: id.into(), kind: kind.into(), content })
        });
        if let Err(reason) = sent {
            self.left_out("an activity", reason);
        }
    }

    fn send_data(&self, name: &str, id: Option<&str>, value: &impl Serialize, transient: bool) {
        let sent = check_tool_name(name)
            .map_err(|error| error.to_string())
            .and_then(|()| id.map_or(Ok(()), Self::check_id))
            .and_then(|()| self.to_json(value))
            .and_then(|data| {
                let (name, id) = (name.into(), id.map(Text::from));
                self.send(RunEvent::Data { name, id, data, transient })
            });
        if let Err(reason) = sent {
            self.left_out("data", reason);
        }
    }

    /// Checks that a client can post the id of a part back.
    fn check_id(id: &str) -> Result<(), String> {
        if (1..=MAX_ID_BYTES).contains(&id.len()) && !id.chars().any(char::is_control) {
            return Ok(());
        }
        Err(format!("its id is not 1 to {MAX_ID_BYTES} bytes without control characters"))
    }

    /// Returns a value as JSON. It is never cut off, because the client expects the complete data.
    fn to_json(&self, value: &impl Serialize) -> Result<JsonText, String> {
        let OutputLimits { max_bytes, max_depth } = self.inner.limits;
        let json = output::to_json(value, OutputLimits { max_bytes: usize::MAX, max_depth })
            .map_err(|error| error.to_string())?;
        if json.as_str().len() > max_bytes {
            return Err("it is larger than the tool's output cap".to_owned());
        }
        Ok(json)
    }

    /// Sends the client an event of a component. The limits of [`data`](Self::data) apply.
    ///
    /// # Errors
    ///
    /// Returns an error if the client has not read the earlier ones.
    pub(crate) fn component_event(&self, event: ComponentEvent) -> Result<(), ToolError> {
        let sent = self.send(RunEvent::Component(Box::new(event)));
        sent.map_err(|reason| ToolError::new("Too many components wait for the client.").with_source(reason))
    }

    fn send(&self, event: RunEvent) -> Result<(), String> {
        if self.inner.updates.event(event) {
            return Ok(());
        }
        Err("the client has not read the earlier data and activities".to_owned())
    }

    fn left_out(&self, what: &'static str, reason: impl fmt::Display) {
        let (tool, call_id) = (self.inner.tool.as_str(), self.inner.call_id.as_str());
        tracing::warn!(tool, call_id, reason = %OneLine(reason), "{what} of a tool is left out");
    }

    /// Returns the same call with other arguments.
    pub(in crate::tool) fn with_arguments(&self, arguments: JsonText) -> Self {
        self.with(arguments, self.inner.attached.clone())
    }

    /// Returns the same call with other arguments, and with a value that [`attached`](Self::attached) returns.
    pub(crate) fn attaching<T: Send + Sync + 'static>(&self, arguments: JsonText, value: Arc<T>) -> Self {
        self.with(arguments, Some(value))
    }

    /// Returns the attached value, if there is one of this type.
    pub(crate) fn attached<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::downcast(self.inner.attached.clone()?).ok()
    }

    fn with(&self, arguments: JsonText, attached: Option<Arc<dyn Any + Send + Sync>>) -> Self {
        let CallContext {
            call_id,
            tool,
            arguments: _,
            run,
            state,
            cancel,
            updates,
            limits,
            resumed,
            inherited,
            attached: _,
        } = &*self.inner;
        CallContext {
            call_id: call_id.clone(),
            tool: tool.clone(),
            arguments,
            run: run.clone(),
            state: Arc::clone(state),
            cancel: cancel.clone(),
            updates: Arc::clone(updates),
            limits: *limits,
            resumed: resumed.clone(),
            inherited: inherited.clone(),
            attached,
        }
        .into()
    }

    /// Returns the settings that calls of the tool inherit, if they are of this type.
    pub(in crate::tool) fn inherited<T: 'static>(&self) -> Option<&T> {
        self.inner.inherited.as_ref()?.downcast_ref()
    }

    pub(crate) fn output_limits(&self) -> OutputLimits {
        self.inner.limits
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.inner.call_id)
            .field("tool", &self.inner.tool)
            .finish_non_exhaustive()
    }
}
