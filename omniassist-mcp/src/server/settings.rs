use std::time::Duration;

/// The settings that the methods of the protocol read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) agents: Vec<String>,
    pub(super) page_size: usize,
    pub(super) fresh_for: Duration,
}
