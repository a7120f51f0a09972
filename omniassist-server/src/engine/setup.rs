use std::sync::{Arc, RwLock};

use omniassist_core::{ContextMessage, Verifier};

use super::config::Config;
use super::seals::Seals;
use crate::tool::Tools;

/// The parts of an assistant that its runs share.
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) tools: Tools,
    pub(super) context: RwLock<Vec<ContextMessage>>,
    pub(super) verifier: Arc<dyn Verifier>,
    pub(super) seals: Option<Seals>,
}
