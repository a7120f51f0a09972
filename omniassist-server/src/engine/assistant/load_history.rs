use http::Extensions;
use omniassist_core::{Error, RunRequest, Text};
use tokio::time::timeout;

use super::handle::Assistant;
use crate::engine::plan::Refusal;
use crate::{Principal, RunContext, one_line};

/// The reason why a conversation was not loaded.
pub(crate) enum NotLoaded {
    /// The request is refused.
    Invalid(Error),
    /// The host refuses it, or has failed.
    Refused(Refusal),
}

impl From<Error> for NotLoaded {
    fn from(error: Error) -> Self {
        Self::Invalid(error)
    }
}

impl From<Refusal> for NotLoaded {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Assistant {
    /// Completes a request that awaits its history with the messages of the host's loader, if there is one.
    ///
    /// The run is admitted first. The run in progress of the chat then ends, so that the host has stored the messages
    /// of all earlier runs. The admission is kept in the extensions.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is not admitted, the host refuses the request, or there is no question to answer.
    pub(crate) async fn load_history(
        &self,
        request: &mut RunRequest,
        extensions: &mut Extensions,
    ) -> Result<(), NotLoaded> {
        let config = &self.setup.config;
        let Some(loader) = config.history_loader.as_ref().filter(|_| request.awaits_history) else {
            return Ok(());
        };
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        let admission = self.admit_early(request, extensions, &principal).await?;
        if let Some(chat_id) = &request.chat_id
            && timeout(config.limits.keep_alive, config.on_finish.saved(&principal, chat_id)).await.is_err()
        {
            tracing::warn!(
                chat_id = chat_id.as_str(),
                "a function of `on_finish` takes long; the history is loaded without what it stores"
            );
        }
        let run = RunContext::new(Text::new(), request, extensions.clone(), Vec::new());
        let run = run.with_agent(self.agent_name());
        let loaded = timeout(config.limits.run_timeout, loader.load(&run, self.setup.tools.state())).await;
        let loaded = loaded.unwrap_or_else(|_| Err(Refusal::internal("it took longer than `run_timeout`")));
        let messages = loaded.inspect_err(|refusal| match refusal.source() {
            Some(error) => tracing::error!(error = %one_line::chain(error), "the history loader failed"),
            None => tracing::info!(code = refusal.code(), "the history loader refused the request"),
        })?;
        request.add_history(messages)?;
        self.keep_admission(admission, extensions);
        Ok(())
    }
}
