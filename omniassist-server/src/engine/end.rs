use std::time::Duration;

use omniassist_core::Text;

/// The delay after which another server may have replaced one that shuts down.
pub(super) const RETRY_ELSEWHERE: Duration = Duration::from_secs(2);

/// The reason for clients of a run that was stopped from outside.
pub(super) const STOPPED: &str = "The run was stopped.";

/// The reason for clients of a run that another one takes the place of.
pub(super) const SUPERSEDED: &str = "Another message took the place of this one.";

/// The reason for ending a run from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Deadline,
    Shutdown,
    /// Host code panicked.
    Panic,
    Abort(Text),
}
