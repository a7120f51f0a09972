use super::AfsEntry;
use crate::store::{Scope, StoreError, StoreFuture};

/// A part of an [`Afs`](super::Afs), mounted below `/modules/`.
///
/// Paths are relative to the mount point and do not begin with `/`. The paths of returned entries are too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module of an `Afs`",
    note = "implement `AfsModule`, or use `AfsHistory` or `AfsUserProfile`"
)]
pub trait AfsModule: Send + Sync + 'static {
    /// Returns the name of the mount point, such as `history` for `/modules/history/`.
    fn name(&self) -> &str;

    /// Returns an entry, or `None` if the owner has none at this path.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    fn read<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Option<AfsEntry>>;

    /// Returns the entries below a path, the oldest first. Default: none.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read, or if the path is not one of a list.
    fn list<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Vec<AfsEntry>> {
        let _ = (scope, path);
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Writes an entry, and returns it as it was written. Default: a [read-only](StoreError::is_read_only) error.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    fn write<'a>(&'a self, scope: &'a Scope, path: &'a str, entry: AfsEntry) -> StoreFuture<'a, AfsEntry> {
        let _ = (scope, path, entry);
        Box::pin(async { Err(StoreError::read_only("the module cannot be written to")) })
    }
}
