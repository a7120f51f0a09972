//! Hooks of the host around the calls of server tools.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::run::Gate;
use omniassist_core::{JsonText, Text};

use super::registered::RegisteredTool;
use crate::audit::CallAudit;
use crate::panics;
use crate::tool::definition::label;
use crate::tool::{IntoToolError, ToolContext, ToolError, output};

/// The error of a call whose hook failed.
const NOT_CHECKED: &str = "This call could not be checked; it was not run.";

/// The error of a call whose changed arguments would need an approval.
const CHANGED: &str =
    "This call was not run: its arguments would have to be changed, and the user approves them.";

/// The error of a call whose output a hook could not check.
const WITHHELD: &str = "The call ran, and its output could not be checked. The output is withheld.";

/// The decision of a [`before_tool`](crate::AssistantBuilder::before_tool) hook about a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolDecision {
    /// The call continues with the next hook or the tool.
    Allow,
    /// The call continues with other arguments, which must match the tool's schema.
    ///
    /// Only the tool and later hooks see them: the client and the model keep the arguments that the model wrote. The
    /// arguments of a call that a user approved cannot be changed, nor can they be changed into arguments that the tool's
    /// [`Approval`](crate::Approval) asks about. Such a call does not run.
    Change(JsonText),
    /// The tool does not run, and this is its output.
    Answer(JsonText),
    /// The tool does not run. The user and the model read the reason.
    Refuse(Text),
    /// The call needs an approval. The user reads this question, or the tool's title and summary. The approved call
    /// passes all hooks again; this decision then has no effect.
    ///
    /// The approval is proved and used up like that of [`Approval`](crate::Approval). If the client cannot ask, the call
    /// does not run.
    RequireApproval(Option<Text>),
}

type HookFuture<T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send>>;
type Before = dyn Fn(ToolContext) -> HookFuture<ToolDecision> + Send + Sync;
type After = dyn Fn(ToolContext, Result<JsonText, ToolError>) -> HookFuture<JsonText> + Send + Sync;

/// The hooks around the calls of an assistant, in the order in which they are called.
#[derive(Clone, Default)]
pub(crate) struct ToolHooks {
    before: Vec<Arc<Before>>,
    after: Vec<Arc<After>>,
}

impl ToolHooks {
    pub(crate) fn before<F, Fut, E>(&mut self, hook: F)
    where
        F: Fn(ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolDecision, E>> + Send + 'static,
        E: IntoToolError,
    {
        self.before.push(Arc::new(move |call| {
            let decision = hook(call);
            Box::pin(async move { decision.await.map_err(E::into_tool_error) })
        }));
    }

    pub(crate) fn after<F, Fut, E>(&mut self, hook: F)
    where
        F: Fn(ToolContext, Result<JsonText, ToolError>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<JsonText, E>> + Send + 'static,
        E: IntoToolError,
    {
        self.after.push(Arc::new(move |call, result| {
            let result = hook(call, result);
            Box::pin(async move { result.await.map_err(E::into_tool_error) })
        }));
    }
}

impl fmt::Debug for ToolHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolHooks")
            .field("before", &self.before.len())
            .field("after", &self.after.len())
            .finish()
    }
}

/// The hooks of one call.
#[derive(Debug, Clone)]
pub(super) struct CallHooks {
    pub(in crate::tool) hooks: Arc<ToolHooks>,
    /// `true` if a user approved the call.
    pub(super) is_approved: bool,
}

impl CallHooks {
    /// Calls the tool between the hooks. The audit log gets the record of its start after the hooks before it.
    pub(in crate::tool) async fn call(
        self,
        tool: &RegisteredTool,
        call: ToolContext,
        audit: Option<Box<CallAudit>>,
    ) -> Result<JsonText, ToolError> {
        let (call, answer) = self.before(tool, call).await?;
        if let Some(audit) = audit {
            if answer.is_some() {
                audit.answer();
            } else {
                let started = audit.start_with(call.call_id(), call.tool_name(), call.arguments());
                started.ok_or_else(ToolError::cancelled)?.accepted().await;
            }
        }
        let mut result = match answer {
            Some(answer) => Ok(answer),
            None => tool.call(call.clone()).await,
        };
        for hook in &self.hooks.after {
            let call = call.clone();
            let checked =
                panics::catch_async("a hook after a tool", async { hook(call, result).await }).await;
            result = checked.unwrap_or_else(|| Err(ToolError::new(WITHHELD)));
        }
        result.and_then(|output| capped(&output, &call))
    }

    /// Returns the call with the arguments for the tool, and the answer of a hook.
    async fn before(
        &self,
        tool: &RegisteredTool,
        mut call: ToolContext,
    ) -> Result<(ToolContext, Option<JsonText>), ToolError> {
        for hook in &self.hooks.before {
            let given = call.clone();
            let decision = panics::catch_async("a hook before a tool", async { hook(given).await }).await;
            match decision.unwrap_or_else(|| Err(ToolError::new(NOT_CHECKED)))? {
                ToolDecision::Allow => {}
                ToolDecision::Change(arguments) => {
                    tool.check_arguments(&arguments).map_err(|error| ToolError::new(error.to_string()))?;
                    let gate = tool.gate(&arguments, call.run().principal());
                    if self.is_approved || gate != Gate::Open {
                        return Err(ToolError::new(CHANGED));
                    }
                    call = call.with_arguments(arguments);
                }
                ToolDecision::Answer(answer) => return Ok((call, Some(answer))),
                ToolDecision::Refuse(reason) => return Err(ToolError::new(reason.to_string())),
                ToolDecision::RequireApproval(_) if self.is_approved => {}
                ToolDecision::RequireApproval(message) => {
                    let gate = Gate::Approval { message, editable: false };
                    let label = tool.label(Some(call.arguments()));
                    return Err(ToolError::needs_approval(label::complete(gate, call.tool_name(), label)));
                }
            }
        }
        Ok((call, None))
    }
}

/// Returns an output that is no larger than the tool's cap.
fn capped(output: &JsonText, call: &ToolContext) -> Result<JsonText, ToolError> {
    output::to_json(output, call.output_limits())
        .map_err(|error| ToolError::new("The tool's output cannot be written as JSON.").with_source(error))
}
