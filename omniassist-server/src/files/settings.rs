use std::sync::Arc;

use super::{FileLimits, FileStore, Library};

/// The settings of stored files, as a builder collects them.
pub(crate) struct FileSettings {
    pub(crate) store: Option<Arc<dyn FileStore>>,
    pub(crate) limits: FileLimits,
    #[cfg(feature = "__transport")]
    pub(crate) fetch: Option<super::FetchPolicy>,
    /// Store the files that a model makes.
    pub(crate) stores_generated: bool,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            store: None,
            limits: FileLimits::default(),
            #[cfg(feature = "__transport")]
            fetch: None,
            stores_generated: true,
        }
    }
}

impl FileSettings {
    /// Returns the files of the assistant, if it has a store.
    pub(crate) fn library(&self) -> Option<Arc<Library>> {
        let store = Arc::clone(self.store.as_ref()?);
        Some(Arc::new(Library::new(store, self.limits.clone())))
    }

    /// Returns the downloader of the files at URLs, if the assistant has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the HTTP client cannot be set up.
    #[cfg(feature = "__transport")]
    pub(crate) fn fetcher(&self) -> crate::Result<Option<super::Fetcher>> {
        let policy = self.fetch.clone();
        policy.map(|policy| super::Fetcher::new(policy, self.limits.clone())).transpose()
    }
}
