//! Calls of tools by clients that have a model of their own.

use http::Extensions;
use omniassist_core::message::{Message, Role};
use omniassist_core::{Error, JsonText, RunRequest, Text, ToolSide};
use uuid::Uuid;

use super::handle::Assistant;
use crate::Principal;
use crate::engine::run::{Run, Script};
use crate::tool::{RegisteredTool, TOOL_SEARCH, ToolSnapshot};

impl Assistant {
    /// Returns the tools that the sender of a request with these extensions may [call](Self::try_call): those of
    /// [`visible_tools`](Self::visible_tools) that the server runs, without the search for tools, those that hand a
    /// conversation off, and components that have no text.
    #[must_use]
    pub fn callable_tools(&self, extensions: &Extensions) -> ToolSnapshot {
        let tools = self.without_handoffs(&self.visible_tools(extensions)).without_search();
        let is_callable = |tool: &RegisteredTool| {
            tool.spec().side == ToolSide::Server && tool.has_text() && tool.spec().name != TOOL_SEARCH
        };
        tools.hiding(|tool| !is_callable(tool))
    }

    /// Starts a run in which a client calls a tool, in the place of the model. The model is not called.
    ///
    /// The call is treated as that of a model: the same checks of its arguments, hooks, approvals, limits and records apply,
    /// and the run is a run of its client as those of [`try_run`](Self::try_run) are. It ends after the call, with no text.
    /// The system prompt, context and history are not prepared, since no model reads them. Tokens are counted only for
    /// agents that the tool asks.
    ///
    /// A request that ends with an assistant's message goes on with the open call in it, and `name` and `arguments` have no
    /// effect: the caller must have compared them. A request without messages gets one, with the name of the tool.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`try_run`](Self::try_run). A name of no tool is an error of the call, and not of the run.
    pub async fn try_call(
        &self,
        name: Text,
        arguments: JsonText,
        mut request: RunRequest,
        extensions: Extensions,
    ) -> Result<Run, Error> {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let chat_id = request.chat_id.clone();
        if request.messages.is_empty() {
            request.messages.push(Message::user("msg-1", name.clone()));
        }
        let goes_on = request.messages.last().is_some_and(|message| message.role == Role::Assistant);
        let script = if goes_on {
            Script::after_call()
        } else {
            // The id is part of the proof of an approval, so no two calls share one.
            Script::call(format!("call_{}", Uuid::now_v7().simple()).into(), name, arguments)
        };
        self.begin(request, extensions, &principal, Some(script))
            .await
            .inspect_err(|refusal| self.report_refused(&principal, chat_id.as_ref(), refusal))
    }
}
