use std::sync::{Arc, RwLock};

use omniassist_core::{ContextMessage, Verifier};

use super::agent::NamedAgents;
use super::config::Config;
use super::seals::Seals;
use super::stored::Stores;
use crate::provider::LlmProvider;
use crate::tool::Tools;

/// The parts of an assistant that its runs share.
pub(super) struct Setup {
    pub(super) provider: Arc<dyn LlmProvider>,
    pub(super) config: Config,
    pub(super) tools: Tools,
    pub(super) agents: NamedAgents,
    pub(super) context: RwLock<Vec<ContextMessage>>,
    pub(super) verifier: Arc<dyn Verifier>,
    pub(super) seals: Option<Seals>,
    pub(super) stores: Option<Arc<Stores>>,
    #[cfg(feature = "files")]
    pub(super) files: Option<Arc<crate::files::Library>>,
    #[cfg(all(feature = "files", feature = "__transport"))]
    pub(super) fetcher: Option<crate::files::Fetcher>,
}
