use std::time::Duration;

/// The times for which a store keeps things.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// The time after its last change for which a conversation is kept. Default: `None`, for ever.
    ///
    /// A conversation with a run that goes on or is queued stays. One whose run waits for the user is deleted with its question
    /// if the user has answered nothing for this time.
    pub conversations: Option<Duration>,
    /// The time after the end of a run for which its journal is kept, and with it what a viewer can resume. Default: 1 h.
    pub journals: Duration,
    /// The time for which the name of a deleted conversation is kept, so that no open page creates it again. Default: 30
    /// days.
    pub tombstones: Duration,
    /// The time after a day for which its usage is kept. Default: 400 days.
    pub usage: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            conversations: None,
            journals: Duration::from_secs(60 * 60),
            tombstones: Duration::from_secs(30 * 24 * 60 * 60),
            usage: Duration::from_secs(400 * 24 * 60 * 60),
        }
    }
}

/// The number of things that a sweep deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// The conversations that became tombstones.
    pub conversations: usize,
    /// The journals.
    pub journals: usize,
    /// The tombstones.
    pub tombstones: usize,
    /// The entries of usage, of budgets of earlier days, and of rates and approvals that no longer count.
    pub usage: usize,
}

impl Swept {
    /// Returns `true` if there was nothing to delete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
