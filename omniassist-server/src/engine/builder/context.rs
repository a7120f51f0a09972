//! The context of the host.

use std::future::Future;

use omniassist_core::ContextMessage;

use super::AssistantBuilder;
use crate::engine::settings::RunHook;
use crate::{BoxError, RunContext};

impl AssistantBuilder {
    /// Adds a context message to every run. It comes before the client's context, and does not count towards its window,
    /// so clients cannot displace it. Default: none.
    pub fn context(mut self, message: ContextMessage) -> Self {
        self.context.push(message);
        self
    }

    /// Adds an async function that returns context messages for a run, such as data of its user. They come after the
    /// assistant's own. An error fails the run, and is logged. Default: none.
    ///
    /// The last [`host_window`](omniassist_core::context::ContextCompressor::host_window) messages of the host are kept,
    /// those of this function included.
    ///
    /// ```
    /// use omniassist_server::core::ContextMessage;
    /// use omniassist_server::{Assistant, RunContext};
    /// # use omniassist_server::testing::ScriptedProvider;
    ///
    /// async fn account(run: RunContext) -> Result<Vec<ContextMessage>, std::io::Error> {
    ///     // Read it from a database, by `run.principal()`.
    ///     let data = serde_json::json!({ "user": run.principal().id(), "plan": "free" });
    ///     Ok(vec![ContextMessage::new("account", "account", data)])
    /// }
    ///
    /// let assistant = Assistant::builder(ScriptedProvider::new()).context_for(account).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn context_for<F, Fut, E>(mut self, hook: F) -> Self
    where
        F: Fn(RunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<ContextMessage>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.config.context_hooks.push(RunHook::new(hook));
        self
    }
}
