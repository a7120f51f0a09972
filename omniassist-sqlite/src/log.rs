//! The write-ahead log, from which deleted content is removed.

use std::time::{Duration, Instant};

use rusqlite::Connection;

/// The time between two tries while other connections read the log.
const RETRY: Duration = Duration::from_millis(100);

/// The removal of deleted content from the write-ahead log.
///
/// A commit appends to the log, and a checkpoint copies it into the database later. Until then, the log has each page as it
/// was before the deletion. A checkpoint that truncates the log needs a moment in which no connection reads from it.
#[derive(Debug)]
pub(crate) struct Log {
    busy_timeout: Duration,
    /// The time of the next try, if the log may contain deleted content.
    next_try: Option<Instant>,
}

impl Log {
    /// Describes the log of a file that was opened, whose process before may have left deleted content there. The timeout is
    /// that of the connection.
    pub(crate) fn new(busy_timeout: Duration) -> Self {
        Self { busy_timeout, next_try: Some(Instant::now()) }
    }

    /// Returns the time until the next try, if there is one.
    pub(crate) fn retry_in(&self) -> Option<Duration> {
        self.next_try.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Clears the log, now or in a later try.
    pub(crate) fn clear(&mut self, connection: &Connection) {
        // Writes must not wait for those that read.
        let cleared = connection.busy_timeout(Duration::ZERO).is_ok() && truncate(connection);
        drop(connection.busy_timeout(self.busy_timeout));
        self.next_try = (!cleared).then(|| Instant::now() + RETRY);
    }

    /// Tries again if it is time.
    pub(crate) fn clear_if_due(&mut self, connection: &Connection) {
        if self.retry_in().is_some_and(|time| time.is_zero()) {
            self.clear(connection);
        }
    }

    /// Tries for the last time, before the connection is closed.
    pub(crate) fn clear_at_end(&self, connection: &Connection) {
        if self.next_try.is_some() {
            truncate(connection);
        }
    }
}

/// Copies the log into the database and truncates it, or returns `false`. A later try repeats what failed.
fn truncate(connection: &Connection) -> bool {
    let is_busy = connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, bool>(0));
    matches!(is_busy, Ok(false))
}
