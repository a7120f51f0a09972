use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::event::RunErrorCode;

use crate::RunContext;
use crate::one_line;

pub(super) type BoxError = Box<dyn StdError + Send + Sync>;
pub(super) type HookFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// An async function of the host that is called for each run.
#[derive(Clone)]
pub(super) struct RunHook<T>(Arc<dyn Fn(RunContext) -> HookFuture<T> + Send + Sync>);

impl<T> RunHook<T> {
    pub(super) fn new<F, Fut, E>(hook: F) -> Self
    where
        F: Fn(RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self(Arc::new(move |run| {
            let result = hook(run);
            Box::pin(async move { result.await.map_err(Into::into) })
        }))
    }

    /// Calls the hook. Logs an error of the hook, which fails the run; `what` is the subject of the log line.
    pub(super) async fn call(&self, what: &'static str, run: &RunContext) -> Result<T, RunErrorCode> {
        self.0(run.clone()).await.map_err(|error| failed(what, run, &*error))
    }
}

/// Logs an error of host code, and returns the code with which the run fails.
pub(super) fn failed(
    what: &'static str,
    run: &RunContext,
    error: &(dyn StdError + Send + Sync + 'static),
) -> RunErrorCode {
    tracing::error!(run_id = run.run_id().as_str(), error = %one_line::chain(error), "{what} failed");
    RunErrorCode::Internal
}
