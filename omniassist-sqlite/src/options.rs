use std::time::Duration;

/// The settings of a [`SqliteStore`](crate::SqliteStore).
///
/// ```
/// use std::time::Duration;
///
/// use omniassist_sqlite::SqliteStore;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("assistant.db");
/// let store = SqliteStore::options().busy_timeout(Duration::from_secs(1)).max_bytes(1 << 30).open(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteOptions {
    pub(crate) busy_timeout: Duration,
    pub(crate) max_bytes: Option<u64>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), max_bytes: None }
    }
}

impl SqliteOptions {
    /// Sets the time for which a write waits while another process writes. After it, the write fails with an
    /// [unavailable](omniassist_server::store::StoreError::is_unavailable) error. Default: 5 s.
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy_timeout = time;
        self
    }

    /// Sets the limit of the size of the file, without the write-ahead log beside it. A write that needs more fails with a
    /// [full](omniassist_server::store::StoreError::is_full) error, and deleted content makes room again. Default: none.
    ///
    /// The file has pages of 8 KiB, and the limit is rounded down to whole pages. A file that is larger already does not
    /// grow.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }
}
