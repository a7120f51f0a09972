use std::sync::{Arc, RwLock};

use omniassist_core::event::RunErrorCode;
use omniassist_core::{ContextMessage, ModelOptions, Text, Verifier};

use super::agent::{Agent, NamedAgent, NamedAgents};
use super::config::Config;
use super::configured_agents::ConfiguredAgents;
use super::hook::RunHook;
use super::seals::Seals;
use crate::RunContext;
use crate::afs::Afs;
use crate::engine::stores::Stores;
use crate::provider::LlmProvider;
use crate::tool::Tools;

/// The parts of an assistant that its runs share.
pub(in crate::engine) struct Setup {
    pub(in crate::engine) provider: Arc<dyn LlmProvider>,
    pub(in crate::engine) config: Config,
    pub(in crate::engine) tools: Tools,
    pub(in crate::engine) agents: NamedAgents,
    /// The agents of the host's loader.
    pub(in crate::engine) configured_agents: Option<ConfiguredAgents>,
    pub(in crate::engine) context: RwLock<Vec<ContextMessage>>,
    pub(in crate::engine) verifier: Arc<dyn Verifier>,
    pub(in crate::engine) seals: Option<Seals>,
    pub(in crate::engine) stores: Option<Arc<Stores>>,
    /// The history of components.
    pub(in crate::engine) afs: Afs,
    #[cfg(feature = "files")]
    pub(in crate::engine) files: Option<Arc<crate::files::Library>>,
    #[cfg(all(feature = "files", feature = "__transport"))]
    pub(in crate::engine) fetcher: Option<crate::files::Fetcher>,
}

impl Setup {
    /// Returns the provider of an agent, or of the assistant.
    pub(in crate::engine) fn provider_of<'a>(
        &'a self,
        agent: Option<&'a NamedAgent>,
    ) -> &'a Arc<dyn LlmProvider> {
        agent.and_then(|agent| agent.settings.provider.as_ref()).unwrap_or(&self.provider)
    }

    /// Returns `true` if the preparation of a run can make summaries.
    pub(in crate::engine) fn may_summarise(&self) -> bool {
        let Config { summariser, history, run_hooks, .. } = &self.config;
        summariser.is_some() || history.is_some() || !run_hooks.is_empty()
    }

    /// Returns the model to request for an agent, or for the assistant. `None` for the provider's own.
    pub(in crate::engine) fn model_of<'a>(&'a self, agent: Option<&'a NamedAgent>) -> Option<&'a Text> {
        match agent.map(|agent| &agent.settings) {
            Some(Agent { model: Some(model), .. }) => Some(model),
            Some(Agent { provider: Some(_), .. }) => None,
            _ => self.config.model.as_ref(),
        }
    }

    /// Returns the settings of the model for an agent, or for the assistant.
    pub(in crate::engine) fn options_of<'a>(
        &'a self,
        agent: Option<&'a NamedAgent>,
    ) -> &'a Arc<ModelOptions> {
        agent.and_then(|agent| agent.settings.options.as_ref()).unwrap_or(&self.config.options)
    }

    /// Returns the system prompt of an agent, or of the assistant.
    fn prompt_of<'a>(&'a self, agent: Option<&'a NamedAgent>) -> Option<&'a RunHook<Text>> {
        agent.map_or(self.config.prompt.as_ref(), |agent| agent.settings.prompt.as_ref())
    }

    /// Returns the system prompt of a run: the planned one, or that of an agent.
    ///
    /// # Errors
    ///
    /// Returns an error if the function of the prompt fails.
    pub(in crate::engine) async fn system_prompt(
        &self,
        planned: Option<Text>,
        agent: Option<&NamedAgent>,
        run: &RunContext,
    ) -> Result<Option<Text>, RunErrorCode> {
        match (planned, self.prompt_of(agent)) {
            (None, Some(prompt)) => prompt.call("the system prompt", run).await.map(Some),
            (planned, _) => Ok(planned),
        }
    }
}
