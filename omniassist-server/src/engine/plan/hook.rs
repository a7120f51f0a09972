use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::Refusal;
use crate::tool::{FromRun, StateMap, ToolDescription, ToolError, up_to_8_types};
use crate::{RunContext, one_line, panics};

/// A function that prepares a run or a model call: an async function or closure of a mutable reference to the plan and of
/// 0 to 8 extractors ([`FromRun`]). There is nothing to implement.
///
/// `P` is the tuple of the extractors' types, and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot prepare a run or a model call",
    label = "not such a function",
    note = "write `async fn prepare(plan: &mut RunPlan, …) -> Result<(), Refusal>`, with `&mut StepPlan` for a model call",
    note = "after the plan come 0 to 8 extractors: `State<T>`, `Extension<T>`, `Principal`, `RunContext`, `ChatId`",
    note = "a closure needs types for its parameters, and its future must be `Send`"
)]
pub trait PlanHandler<'a, Plan: 'a, P>: Send + Sync + 'static {
    /// The return type of the function.
    type Future: Future<Output = Result<(), Refusal>> + Send + 'a;

    /// Calls the function.
    fn call(&self, plan: &'a mut Plan, parameters: P) -> Self::Future;
}

/// The extractors of a [`PlanHandler`]: a tuple of 0 to 8 [`FromRun`].
pub trait PlanParameters: Sized + Send + 'static {
    /// Makes the parameters, in order.
    ///
    /// # Errors
    ///
    /// Returns the error of the first parameter that cannot be made.
    fn from_run(run: &RunContext, state: &StateMap) -> Result<Self, ToolError>;

    /// Describes what the parameters need.
    fn describe(description: &mut ToolDescription);
}

macro_rules! impl_plan_handler {
    ($($param:ident),*) => {
        #[allow(non_snake_case, reason = "a parameter's value is named after its type")]
        impl<'a, Plan, F, Fut, $($param,)*> PlanHandler<'a, Plan, ($($param,)*)> for F
        where
            Plan: 'a,
            F: Fn(&'a mut Plan, $($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<(), Refusal>> + Send + 'a,
        {
            type Future = Fut;

            fn call(&self, plan: &'a mut Plan, ($($param,)*): ($($param,)*)) -> Fut {
                self(plan, $($param),*)
            }
        }

        impl<$($param: FromRun + 'static,)*> PlanParameters for ($($param,)*) {
            #[allow(clippy::unused_unit, reason = "the tuple of no parameters")]
            fn from_run(_run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
                Ok(($($param::from_run(_run, _state)?,)*))
            }

            fn describe(_description: &mut ToolDescription) {
                $(<$param as FromRun>::describe(_description);)*
            }
        }
    };
}

up_to_8_types!(impl_plan_handler);

type PlanFuture<Plan> = Pin<Box<dyn Future<Output = Result<Box<Plan>, Refusal>> + Send>>;

type StoredHandler<Plan> = dyn Fn(Box<Plan>, RunContext, Arc<StateMap>) -> PlanFuture<Plan> + Send + Sync;

/// A stored function that prepares a run or a model call.
pub(in crate::engine) struct PlanHook<Plan> {
    call: Arc<StoredHandler<Plan>>,
    describe: fn(&mut ToolDescription),
}

impl<Plan> Clone for PlanHook<Plan> {
    fn clone(&self) -> Self {
        Self { call: Arc::clone(&self.call), describe: self.describe }
    }
}

impl<Plan: Send + 'static> PlanHook<Plan> {
    pub(in crate::engine) fn new<P, F>(handler: F) -> Self
    where
        P: PlanParameters,
        F: for<'a> PlanHandler<'a, Plan, P>,
    {
        let handler = Arc::new(handler);
        let call = move |mut plan: Box<Plan>, run: RunContext, state: Arc<StateMap>| -> PlanFuture<Plan> {
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                let parameters = P::from_run(&run, &state)?;
                handler.call(&mut plan, parameters).await?;
                Ok(plan)
            })
        };
        Self { call: Arc::new(call), describe: P::describe }
    }

    /// Calls the function. Logs an error and a panic, which refuse the run; `what` is the subject of the log line.
    pub(super) async fn call(
        &self,
        what: &'static str,
        plan: Box<Plan>,
        run: &RunContext,
        state: &Arc<StateMap>,
    ) -> Result<Box<Plan>, Refusal> {
        let call = async { (self.call)(plan, run.clone(), Arc::clone(state)).await };
        let planned = panics::catch_async(what, call).await;
        let planned = planned.unwrap_or_else(|| Err(Refusal::internal("it panicked")));
        planned.inspect_err(|refusal| match refusal.source() {
            Some(error) => {
                let error = one_line::chain(error);
                tracing::error!(run_id = run.run_id().as_str(), %error, "{what} failed");
            }
            None => tracing::info!(
                run_id = run.run_id().as_str(),
                code = refusal.code(),
                "{what} refused the run"
            ),
        })
    }
}

/// Returns the name of the first type of `State` that the functions need and the host did not give.
pub(in crate::engine) fn unmet_need<Plan>(
    hooks: &[PlanHook<Plan>],
    state: &StateMap,
) -> Option<&'static str> {
    hooks.iter().find_map(|hook| {
        let mut needs = ToolDescription::default();
        (hook.describe)(&mut needs);
        needs.unmet(state)
    })
}
