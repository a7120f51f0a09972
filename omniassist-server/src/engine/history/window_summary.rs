use omniassist_core::Text;
use omniassist_core::history::View;

/// A summary, and the digest of the messages that it covers.
#[derive(Debug, Clone)]
pub(in crate::engine) struct WindowSummary {
    pub(in crate::engine) covers: [u8; 32],
    pub(in crate::engine) text: Text,
}

/// The part of the conversation that a run sends to its model.
pub(in crate::engine) struct Viewed {
    pub(in crate::engine) view: View,
    /// The summary that was made for the run.
    pub(in crate::engine) summary: Option<WindowSummary>,
}
