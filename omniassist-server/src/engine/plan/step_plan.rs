use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::{ModelOptions, Text, ToolChoice, TranscriptItem, Usage};

use super::call::{Call, impl_call_plan};
use super::{PlanHook, Refusal};
use crate::RunContext;
use crate::provider::LlmProvider;
use crate::tool::{RegisteredTool, StateMap, TOOL_SEARCH, ToolSnapshot};

/// The plan of one model call, which [`prepare_step`](crate::AssistantBuilder::prepare_step) can change. It begins as that
/// of the run: a change applies to one call.
///
/// ```
/// use omniassist_server::core::ToolChoice;
/// use omniassist_server::{Refusal, StepPlan};
///
/// async fn prepare_step(step: &mut StepPlan) -> Result<(), Refusal> {
///     if step.usage().output_tokens.unwrap_or(0) > 20_000 {
///         return Err(Refusal::new("too_long", "The answer became too long."));
///     }
///     match step.number() {
///         1 => step.model("small").tool_choice(ToolChoice::Required),
///         // The model answers with what it has.
///         6.. => step.tool_choice(ToolChoice::None),
///         _ => step,
///     };
///     Ok(())
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).prepare_step(prepare_step).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
pub struct StepPlan {
    pub(in crate::engine) call: Call,
    pub(in crate::engine) tools: ToolSnapshot,
    pub(in crate::engine) transcript: Arc<[TranscriptItem]>,
    number: u32,
    usage: Usage,
}

impl_call_plan!(StepPlan, "the model call");

impl StepPlan {
    /// Returns the number of the model call in its run, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the tokens that the run has used so far, as reported by the providers.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Returns the conversation that the model is about to read, the results of the run's tools included.
    #[must_use]
    pub fn transcript(&self) -> &[TranscriptItem] {
        &self.transcript
    }
}

impl fmt::Debug for StepPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("StepPlan");
        shown.field("number", &self.number).field("model", &self.call.model);
        shown.field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// The preparation of a model call, as a future.
pub(in crate::engine) type Stepping = Pin<Box<dyn Future<Output = Result<Box<StepPlan>, Refusal>> + Send>>;

/// The plan of the run, from which that of each model call begins.
pub(in crate::engine) struct Steps {
    hooks: Arc<Vec<PlanHook<StepPlan>>>,
    state: Arc<StateMap>,
    call: Call,
    tools: ToolSnapshot,
    number: u32,
}

impl Steps {
    pub(in crate::engine) fn new(
        hooks: &Arc<Vec<PlanHook<StepPlan>>>,
        state: &Arc<StateMap>,
        call: Call,
        tools: ToolSnapshot,
    ) -> Self {
        Self { hooks: Arc::clone(hooks), state: Arc::clone(state), call, tools, number: 0 }
    }

    /// Goes on with the call and the tools of another agent.
    pub(in crate::engine) fn hand_off(&mut self, call: Call, tools: ToolSnapshot) {
        (self.call, self.tools) = (call, tools);
    }

    /// Prepares the next model call.
    pub(in crate::engine) fn next(
        &mut self,
        run: &RunContext,
        transcript: Arc<[TranscriptItem]>,
        usage: Usage,
    ) -> Stepping {
        self.number = self.number.saturating_add(1);
        let (call, tools, number) = (self.call.clone(), self.tools.clone(), self.number);
        let mut plan = Box::new(StepPlan { call, tools, transcript, number, usage });
        let (hooks, state, run) = (Arc::clone(&self.hooks), Arc::clone(&self.state), run.clone());
        Box::pin(async move {
            for hook in &*hooks {
                plan = hook.call("the preparation of a model call", plan, &run, &state).await?;
            }
            let StepPlan { call, tools, .. } = &mut *plan;
            call.offer(tools);
            Ok(plan)
        })
    }
}
