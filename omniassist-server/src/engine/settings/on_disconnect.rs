use std::time::Duration;

use crate::clock;

/// The fate of a stored run whose last viewer leaves.
///
/// A client that closes its page, loses its network or aborts its request looks the same to a server. Stopping a run is
/// therefore a request of its own: `POST /{chat_id}/stop`. A run that is not stored always ends with its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDisconnect {
    /// The run goes on, within [`run_timeout`](omniassist_core::Limits::run_timeout), its steps and its budget.
    #[default]
    Continue,
    /// The run is stopped if no viewer comes back within this time.
    CancelAfter(Duration),
    /// The run is stopped.
    Cancel,
}

impl OnDisconnect {
    /// Returns the time that a viewer has to come back.
    pub(in crate::engine) fn delay(self) -> Duration {
        match self {
            Self::CancelAfter(delay) => delay.min(clock::MAX_DURATION),
            Self::Continue | Self::Cancel => Duration::ZERO,
        }
    }
}
