use std::fmt;
use std::sync::Arc;

use omniassist_core::message::Message;
use omniassist_core::run::{ClientAbilities, DueApproval, due_approvals};
use omniassist_core::{ContextMessage, ModelOptions, RunRequest, Text, ToolChoice, ToolSide};
use serde_json::{Map, Value};

use super::call::{Call, impl_call_plan};
use super::{PlanHook, Refusal};
use crate::engine::history::History;
use crate::provider::LlmProvider;
use crate::tool::{RegisteredTool, TOOL_SEARCH, Tool, ToolSnapshot, Tools};
use crate::{Error, RunContext};

/// The plan of one run, which [`prepare`](crate::AssistantBuilder::prepare) can change before the run begins.
///
/// ```
/// use omniassist_server::core::ContextMessage;
/// use omniassist_server::{Extension, Principal, Refusal, RunPlan};
///
/// #[derive(Clone)]
/// struct Account {
///     plan: &'static str,
///     blocked: bool,
/// }
///
/// async fn prepare(plan: &mut RunPlan, Extension(account): Extension<Account>, user: Principal) -> Result<(), Refusal> {
///     if account.blocked {
///         return Err(Refusal::new("account_blocked", "Your account is blocked."));
///     }
///     if account.plan == "free" {
///         plan.model("small").max_steps(4).deny_tag("premium");
///         plan.options_mut().max_output_tokens = Some(500);
///     }
///     plan.context(ContextMessage::new("account", "account", serde_json::json!({ "plan": account.plan })));
///     plan.metadata("user", user.id());
///     Ok(())
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).prepare(prepare).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
pub struct RunPlan {
    call: Call,
    tools: ToolSnapshot,
    registry: Tools,
    abilities: ClientAbilities,
    offers_server_tools: bool,
    context: Vec<ContextMessage>,
    max_steps: Option<u32>,
    history: Option<History>,
    metadata: Map<String, Value>,
}

impl_call_plan!(RunPlan, "the run");

impl RunPlan {
    /// Adds a tool to the run, after the others. It is left out if the client cannot run it, or if the run offers no
    /// server tools.
    ///
    /// A run that continues after an approval is prepared anew: it needs the tool again.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool cannot be [registered](crate::tool::Tools::register), or the run has a tool of this
    /// name.
    pub fn add_tool(&mut self, tool: Tool) -> Result<&mut Self, Error> {
        let tool = self.registry.check(tool)?;
        let is_wanted = match tool.spec().side {
            ToolSide::Server => self.offers_server_tools,
            ToolSide::FrontEnd if tool.asks_user() => self.abilities.forms,
            ToolSide::FrontEnd => self.abilities.front_end_tools,
        };
        if is_wanted {
            self.tools = self.tools.with_tool(tool)?;
        }
        Ok(self)
    }

    /// Adds a context message, after those of [`context_for`](crate::AssistantBuilder::context_for).
    pub fn context(&mut self, message: ContextMessage) -> &mut Self {
        self.context.push(message);
        self
    }

    /// Sets how many model calls the question may take; see [`max_steps`](crate::AssistantBuilder::max_steps). Default:
    /// the assistant's.
    pub fn max_steps(&mut self, steps: u32) -> &mut Self {
        self.max_steps = Some(steps);
        self
    }

    /// Sets how much of the conversation is sent to the model; `None` for all of it. Default: the assistant's.
    pub fn history(&mut self, history: impl Into<Option<History>>) -> &mut Self {
        self.history = history.into();
        self
    }

    /// Adds metadata of the message, in addition to that of
    /// [`on_message_metadata`](crate::AssistantBuilder::on_message_metadata); the same keys are dropped.
    pub fn metadata(&mut self, key: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

impl fmt::Debug for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RunPlan");
        shown.field("provider", &self.call.provider.name()).field("model", &self.call.model);
        shown.field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// The facts of a run before it is planned.
pub(in crate::engine) struct Planning {
    pub(in crate::engine) call: Call,
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) abilities: ClientAbilities,
    pub(in crate::engine) offers_server_tools: bool,
    pub(in crate::engine) history: Option<History>,
    /// The message that the run continues.
    pub(in crate::engine) continued: Option<Message>,
}

/// A plan that was made.
pub(in crate::engine) struct Planned {
    pub(in crate::engine) call: Call,
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) context: Vec<ContextMessage>,
    pub(in crate::engine) max_steps: Option<u32>,
    pub(in crate::engine) history: Option<History>,
    pub(in crate::engine) metadata: Map<String, Value>,
    /// The approved calls of the tools that the plan leaves.
    pub(in crate::engine) due: Vec<DueApproval>,
}

impl Planning {
    /// Calls the functions that prepare runs, in order.
    pub(in crate::engine) async fn plan(
        self,
        hooks: &[PlanHook<RunPlan>],
        registry: &Tools,
        run: &RunContext,
    ) -> Result<Planned, Refusal> {
        let mut plan = Box::new(RunPlan {
            call: self.call,
            tools: self.tools,
            registry: registry.clone(),
            abilities: self.abilities,
            offers_server_tools: self.offers_server_tools,
            context: Vec::new(),
            max_steps: None,
            history: self.history,
            metadata: Map::new(),
        });
        for hook in hooks {
            plan = hook.call("the preparation of a run", plan, run, registry.state()).await?;
        }
        let RunPlan { mut call, tools, context, max_steps, history, metadata, .. } = *plan;
        call.offer(&tools);
        let mut request = RunRequest::new(self.continued.into_iter().collect());
        request.abilities = self.abilities;
        let due = due_approvals(&request, &tools);
        Ok(Planned { call, tools, context, max_steps, history, metadata, due })
    }
}
