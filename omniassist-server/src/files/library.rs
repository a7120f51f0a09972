use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::{FileContent, FileError, FileInfo, FileKey, FileLimits, FileStore, Kind};
use crate::quota::{Quota, QuotaFull, Share};
use crate::{Principal, clock};

/// The number of locks under which uploads are completed.
const LOCKS: usize = 64;

/// The files of an assistant: its store, within the limits.
pub(crate) struct Library {
    pub(super) store: Arc<dyn FileStore>,
    limits: FileLimits,
    /// Counts the requests with uploads.
    uploads: Arc<Quota>,
    /// The quota of a principal is checked and used up under one of these.
    locks: [Mutex<()>; LOCKS],
}

impl Library {
    pub(crate) fn new(store: Arc<dyn FileStore>, limits: FileLimits) -> Self {
        Self { store, limits, uploads: Arc::default(), locks: std::array::from_fn(|_| Mutex::default()) }
    }

    pub(crate) fn limits(&self) -> &FileLimits {
        &self.limits
    }

    /// Admits a request with uploads. Its place is held until the result is dropped.
    ///
    /// # Errors
    ///
    /// Fails if there are too many already.
    pub(crate) fn admit(&self, owner: &Principal) -> Result<Share, FileError> {
        let mut place = self.uploads.begin(owner.clone());
        let (own, all) = (self.limits.max_uploads_per_principal, self.limits.max_uploads);
        place.grow_to(1, own, all).map_err(|full| match full {
            QuotaFull::OfPrincipal => Kind::TooManyUploads(own),
            QuotaFull::OfAll => Kind::Overloaded,
        })?;
        Ok(place)
    }

    /// Checks that a principal may store one more file.
    pub(super) async fn check_quota(&self, owner: &Principal, size: u64) -> Result<(), FileError> {
        let FileLimits { max_files_per_principal, max_bytes_per_principal, .. } = self.limits;
        let usage = self.store.usage(owner).await.map_err(FileError::store)?;
        if usage.files >= max_files_per_principal {
            return Err(Kind::Quota("max_files_per_principal", max_files_per_principal as u64).into());
        }
        if usage.bytes.saturating_add(size) > max_bytes_per_principal {
            return Err(Kind::Quota("max_bytes_per_principal", max_bytes_per_principal).into());
        }
        Ok(())
    }

    pub(super) async fn lock(&self, owner: &Principal) -> Option<MutexGuard<'_, ()>> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(owner);
        let lock = self.locks.get(usize::try_from(hash % LOCKS as u64).unwrap_or_default())?;
        Some(lock.lock().await)
    }

    /// Returns the description of a file of this principal that has not expired.
    pub(crate) async fn find(&self, key: &FileKey) -> Result<Option<FileInfo>, FileError> {
        let found = self.store.find(key).await.map_err(FileError::store)?;
        Ok(found.filter(|info| info.id == key.id && !info.is_expired(clock::now_ms())))
    }

    pub(crate) async fn read(&self, key: &FileKey) -> Result<FileContent, FileError> {
        self.store.read(key).await.map_err(FileError::store)
    }

    pub(crate) async fn delete(&self, key: &FileKey) -> Result<(), FileError> {
        self.store.delete(key).await.map_err(FileError::store)
    }
}
