use std::sync::Arc;

use super::AssistantBuilder;
use crate::engine::history::History;
use crate::engine::plan::{PlanHandler, PlanHook, PlanParameters, RunPlan, StepPlan, unmet_need};
use crate::engine::settings::Config;
use crate::tool::StateMap;
use crate::{Error, Result};

impl AssistantBuilder {
    /// Adds an async function that decides about each run before it begins: its model, prompt, tools, context and limits,
    /// or that there is none. See [`RunPlan`] and [`Refusal`](crate::Refusal). Functions are called in order. Default:
    /// none.
    ///
    /// The function takes `&mut RunPlan` and then extractors ([`FromRun`](crate::tool::FromRun)). It runs before the
    /// system prompt and the functions of [`context_for`](Self::context_for), and delays the response. A run that
    /// continues after an approval is prepared anew. If the client leaves, the function is dropped at an await.
    ///
    /// The manifest does not know of a plan. To hide a tool there too, use [`Tool::visible_to`](crate::Tool::visible_to).
    pub fn prepare<P, F>(mut self, prepare: F) -> Self
    where
        P: PlanParameters,
        F: for<'a> PlanHandler<'a, RunPlan, P>,
    {
        self.config.run_hooks.push(PlanHook::new(prepare));
        self
    }

    /// Adds an async function that decides about each model call of a run: its model, prompt and tools, or that the run
    /// ends. See [`StepPlan`] and [`Refusal`](crate::Refusal). Functions are called in order. Default: none.
    ///
    /// The function takes `&mut StepPlan` and then extractors, as in [`prepare`](Self::prepare).
    pub fn prepare_step<P, F>(mut self, prepare: F) -> Self
    where
        P: PlanParameters,
        F: for<'a> PlanHandler<'a, StepPlan, P>,
    {
        Arc::make_mut(&mut self.config.step_hooks).push(PlanHook::new(prepare));
        self
    }

    /// Sets how much of a long conversation is sent to the model; see [`History`]. Default: all of it.
    pub fn history(mut self, history: History) -> Self {
        self.config.history = Some(history);
        self
    }

    /// Checks that the host gave every `State` that the functions take.
    pub(super) fn check_plans(config: &Config, state: &StateMap) -> Result<()> {
        let unmet = unmet_need(&config.run_hooks, state).or_else(|| unmet_need(&config.step_hooks, state));
        let unmet = unmet.or_else(|| config.history_loader.as_ref()?.unmet_need(state));
        match unmet {
            None => Ok(()),
            Some(name) => Err(Error::configuration(format!(
                "a function that prepares runs or loads their history takes `State<{name}>`, and there is none; give it with `.state(value)`"
            ))),
        }
    }
}
