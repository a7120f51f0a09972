use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use omniassist_core::event::RunErrorCode;

use crate::one_line;
use crate::{BoxError, RunContext};

type HookFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// An async function of the host that is called for each run.
pub(in crate::engine) struct RunHook<T>(Arc<dyn Fn(RunContext) -> HookFuture<T> + Send + Sync>);

impl<T> Clone for RunHook<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> RunHook<T> {
    pub(in crate::engine) fn new<F, Fut, E>(hook: F) -> Self
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
    pub(in crate::engine) async fn call(
        &self,
        what: &'static str,
        run: &RunContext,
    ) -> Result<T, RunErrorCode> {
        self.0(run.clone()).await.map_err(|error| {
            let error = one_line::chain(&*error);
            tracing::error!(run_id = run.run_id().as_str(), %error, "{what} failed");
            RunErrorCode::Internal
        })
    }
}
