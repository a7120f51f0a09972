//! Calls that a tool makes in the name of its own call, and that may wait for the user.

use std::sync::Arc;

use omniassist_core::message::ToolState;
use omniassist_core::{JsonText, Text, ToolSide, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::registered::RegisteredTool;
use super::user_form::{UserAnswer, UserForm};
use crate::tool::context::{AgentAsk, Answered, InnerCall, InnerEnd, InnerTool};
use crate::tool::{Tool, ToolContext, ToolError};

/// The most bytes of the state of a call that waits, as JSON.
const MAX_STATE_BYTES: usize = 32 * 1024;

/// The error of a call that the user has denied.
const DENIED: &str = "The user denied this call; it was not run.";

impl ToolContext {
    /// Returns the state that an earlier round of this call gave when it began to wait for the user. `None` in the first round.
    #[must_use]
    pub fn resumed_state(&self) -> Option<&JsonText> {
        self.resumed()
    }

    /// Returns `true` if [`ask_user`](Self::ask_user) can show the user a form. It cannot if the client shows none, if the
    /// assistant seals nothing, or if the call belongs to an agent that may not wait.
    #[must_use]
    pub fn can_ask_user(&self) -> bool {
        self.run().can_ask_user()
    }

    /// Shows the user a form and returns the answer.
    ///
    /// The call ends here, because the answer can come much later and to another server: the first time, the method returns an
    /// error that the tool must return at once. When the user has answered, the tool runs again from its beginning, with the
    /// same arguments. The same form then has its answer, and this method returns it. Effects before it are repeated, unless
    /// the tool finds in [`resumed_state`](Self::resumed_state) that it had them. `state` is what the tool finds there; that of
    /// a later form replaces it. A tool that asks several forms one after the other keeps the earlier answers in it.
    ///
    /// The state is kept with the run, or encrypted with the client if the run is not stored. It has at most 32 KiB as JSON.
    ///
    /// ```
    /// use omniassist_server::tool::{ToolContext, ToolError, UserAnswer, UserForm};
    /// use serde_json::json;
    ///
    /// async fn book(call: ToolContext) -> Result<String, ToolError> {
    ///     let schema = json!({
    ///         "type": "object",
    ///         "properties": { "seats": { "type": "integer", "title": "Seats" } },
    ///         "required": ["seats"],
    ///     });
    ///     match call.ask_user(UserForm::new("How many seats?", schema), ()).await? {
    ///         UserAnswer::Accepted(answer) => Ok(format!("Booked {} seats.", answer["seats"])),
    ///         _ => Err(ToolError::new("The user booked nothing.")),
    ///     }
    /// }
    /// # let _ = omniassist_server::tool::Tool::new("book", "Books seats", book);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error for the model if the client cannot show forms, if the answer does not fit the schema, if it came too
    /// late, or if the schema cannot be used. A state that is too large is an error with
    /// [`is_state_too_large`](ToolError::is_state_too_large), before the user is asked.
    pub async fn ask_user(&self, form: UserForm, state: impl Serialize) -> Result<UserAnswer, ToolError> {
        let UserForm { message, schema } = form;
        let arguments = JsonText::from_value(&json!({ "message": message, "schema": schema }));
        let end = self.make_inner(InnerTool::Form, "form", arguments, state).await?;
        match end.state {
            ToolState::OutputAvailable { output, .. } => Ok(UserAnswer::Accepted(output.to_value())),
            ToolState::OutputDenied { approval, .. } => {
                Ok(UserAnswer::Declined(approval.decision.and_then(|decision| decision.reason)))
            }
            ToolState::OutputError { error_text, .. } if !end.has_failed => {
                Ok(UserAnswer::Declined(Some(error_text).filter(|text| !text.is_empty())))
            }
            other => Err(failed(other)),
        }
    }

    /// Calls another tool in the name of this call, and returns its output. The call passes the checks of a model's call: the
    /// tool's schema, approval, rate limits, timeout and output cap, the hooks of the assistant, and its audit log. The tool
    /// finds the context, the shared state and the body's other fields of this run, and not its messages.
    ///
    /// If the user must approve it, or if the tool asks the user itself, this call waits too, as it does in
    /// [`ask_user`](Self::ask_user): it ends with an error that the tool must return, and runs again from its beginning. The
    /// same call then has its answer, and runs once. Make such calls one after the other, and keep what they return in the
    /// state: a call that would wait while another one of this tool is open is an error.
    ///
    /// # Errors
    ///
    /// Returns the error of the call: of its arguments, of the tool, or of the user who denied it. A state that is too large is
    /// an error with [`is_state_too_large`](ToolError::is_state_too_large), before the tool runs. A call within 16 others is an
    /// error too.
    pub async fn call_tool(
        &self,
        tool: &Tool,
        arguments: Value,
        state: impl Serialize,
    ) -> Result<Value, ToolError> {
        self.call(&tool.spec, InnerTool::Given(Arc::new(tool.clone())), &arguments, state).await
    }

    /// Calls a tool of a registry, as [`call_tool`](Self::call_tool) does. Its schema is not checked again.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`call_tool`](Self::call_tool).
    pub async fn call_registered_tool(
        &self,
        tool: &Arc<RegisteredTool>,
        arguments: Value,
        state: impl Serialize,
    ) -> Result<Value, ToolError> {
        self.call(tool.spec(), InnerTool::Given(Arc::clone(tool) as _), &arguments, state).await
    }

    async fn call(
        &self,
        spec: &ToolSpec,
        tool: InnerTool,
        arguments: &Value,
        state: impl Serialize,
    ) -> Result<Value, ToolError> {
        if spec.side != ToolSide::Server {
            return Err(ToolError::internal("a tool cannot call one that the client runs"));
        }
        let arguments = JsonText::from_value(arguments);
        let end = self.make_inner(tool, spec.name.clone(), arguments, state).await?;
        match end.state {
            ToolState::OutputAvailable { output, .. } => Ok(output.to_value()),
            other => Err(failed(other)),
        }
    }

    async fn make_inner(
        &self,
        tool: InnerTool,
        name: impl Into<Text>,
        arguments: JsonText,
        state: impl Serialize,
    ) -> Result<InnerEnd, ToolError> {
        let state = JsonText::from_serialize(&state)?;
        if state.as_str().len() > MAX_STATE_BYTES {
            return Err(ToolError::state_too_large());
        }
        let (reply, end) = oneshot::channel();
        let (_open, is_beside) = self.open_inner_call();
        let inner = Some(InnerCall { tool, arguments, state, is_beside });
        let (call_id, task, may_wait) = (self.call_id().clone(), Text::new(), true);
        self.ask_agent(AgentAsk { agent: name.into(), task, inner, call_id, call: None, may_wait, reply });
        match end.await {
            Ok(Ok(Answered::Call(end))) => Ok(end),
            Ok(Ok(Answered::Report(_))) => Err(ToolError::internal("an agent answered in place of a tool")),
            Ok(Err(error)) => Err(self.noted(error)),
            Err(_) => Err(ToolError::new("No call can be made here.")),
        }
    }
}

/// Returns the error of a call that has no output.
fn failed(state: ToolState) -> ToolError {
    match state {
        ToolState::OutputError { error_text, .. } => ToolError::new(error_text.to_string()),
        ToolState::OutputDenied { approval, .. } => {
            match approval.decision.and_then(|decision| decision.reason) {
                Some(reason) => ToolError::new(format!("{DENIED} The reason given: {reason}")),
                None => ToolError::new(DENIED),
            }
        }
        _ => ToolError::cancelled(),
    }
}
