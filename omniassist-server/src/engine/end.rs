use std::time::Duration;

use omniassist_core::Text;

/// The delay after which another server may have replaced one that shuts down.
pub(super) const RETRY_ELSEWHERE: Duration = Duration::from_secs(2);

/// The reason for ending a run from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Deadline,
    Shutdown,
    /// Host code panicked.
    Panic,
    Abort(Text),
}
