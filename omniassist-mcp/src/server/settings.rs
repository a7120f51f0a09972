use std::time::Duration;

use super::prompt::Prompts;
use super::resource::Resources;

/// The settings that the methods of the protocol read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) agents: Vec<String>,
    pub(super) resources: Resources,
    pub(super) prompts: Prompts,
    pub(super) page_size: usize,
    pub(super) fresh_for: Duration,
}

impl Settings {
    /// Returns the milliseconds for which a list may be used.
    pub(super) fn fresh_ms(&self) -> u64 {
        u64::try_from(self.fresh_for.as_millis()).unwrap_or(u64::MAX)
    }
}
