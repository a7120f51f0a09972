use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use serde::{Deserialize, Serialize};

use super::{FileId, FileKey};
use crate::{BoxError, Principal};

/// The future of a [`FileStore`]'s method.
pub type FileFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send + 'a>>;

/// The content of a stored file, in chunks of any size.
pub type FileContent = Pin<Box<dyn Stream<Item = Result<Bytes, BoxError>> + Send>>;

/// A store of files.
///
/// The assistant checks sizes, types, quotas and expiry; a store keeps what it is given. Every method gets the principal,
/// as part of the key. A file of another principal must not be found. An error is answered 503.
///
/// This store keeps files in memory:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use bytes::Bytes;
/// use futures_util::stream;
/// use omniassist_server::Principal;
/// use omniassist_server::files::{
///     FileContent, FileFuture, FileInfo, FileKey, FileStore, FileUsage, FileWriter,
/// };
///
/// type Files = Arc<Mutex<HashMap<FileKey, (FileInfo, Vec<u8>)>>>;
///
/// #[derive(Default)]
/// struct InMemory(Files);
///
/// struct Writer(Files, FileKey, Vec<u8>);
///
/// impl FileStore for InMemory {
///     fn create<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Box<dyn FileWriter>> {
///         let writer = Writer(Arc::clone(&self.0), key.clone(), Vec::new());
///         Box::pin(async move { Ok(Box::new(writer) as Box<dyn FileWriter>) })
///     }
///
///     fn find<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Option<FileInfo>> {
///         Box::pin(async move { Ok(self.0.lock().unwrap().get(key).map(|file| file.0.clone())) })
///     }
///
///     fn read<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, FileContent> {
///         Box::pin(async move {
///             let content = self.0.lock().unwrap().get(key).map(|file| Bytes::from(file.1.clone()));
///             let content = content.ok_or("no such file")?;
///             Ok(Box::pin(stream::once(async move { Ok(content) })) as FileContent)
///         })
///     }
///
///     fn delete<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, ()> {
///         Box::pin(async move {
///             self.0.lock().unwrap().remove(key);
///             Ok(())
///         })
///     }
///
///     fn usage<'a>(&'a self, owner: &'a Principal) -> FileFuture<'a, FileUsage> {
///         Box::pin(async move {
///             let mut usage = FileUsage::default();
///             for (key, (info, _)) in &*self.0.lock().unwrap() {
///                 if key.owner == *owner {
///                     usage.add(info);
///                 }
///             }
///             Ok(usage)
///         })
///     }
/// }
///
/// impl FileWriter for Writer {
///     fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()> {
///         self.2.extend_from_slice(&chunk);
///         Box::pin(async { Ok(()) })
///     }
///
///     fn finish(self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()> {
///         Box::pin(async move {
///             self.0.lock().unwrap().insert(self.1, (info, self.2));
///             Ok(())
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store of files",
    note = "implement `FileStore`, or use a `FolderStore`"
)]
pub trait FileStore: Send + Sync + 'static {
    /// Begins a new file. It must not be found before its writer has finished.
    fn create<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Box<dyn FileWriter>>;

    /// Returns what [`FileWriter::finish`] was given for this file, or `None` if there is none.
    fn find<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Option<FileInfo>>;

    /// Returns the content of a file that was found. Dropping the content ends the read.
    fn read<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, FileContent>;

    /// Deletes a file. A missing file is no error.
    fn delete<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, ()>;

    /// Returns the number and size of the finished files of a principal. Files that have [expired](FileInfo::is_expired) do
    /// not count, and may be deleted on this occasion.
    fn usage<'a>(&'a self, owner: &'a Principal) -> FileFuture<'a, FileUsage>;
}

/// The writer of a new file. Dropping it discards what was written.
pub trait FileWriter: Send {
    /// Appends a chunk of at most 64 KiB. The next one comes when the future is complete.
    fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()>;

    /// Completes the file. From then on it is found, with this description.
    fn finish(self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()>;
}

/// The description of a stored file. Stores keep it beside the content, for example as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileInfo {
    /// The id.
    pub id: FileId,
    /// The media type, without parameters.
    pub media_type: String,
    /// The name that the client gave the file, without folders and control characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of bytes.
    pub size: u64,
    /// The time of the upload, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time at which the file expires, in milliseconds since 1970. `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

impl FileInfo {
    /// Returns `true` if the file has expired at this time, in milliseconds since 1970.
    #[must_use]
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|expiry| expiry <= now_ms)
    }
}

/// The files of a principal, counted for its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileUsage {
    /// The number of files.
    pub files: usize,
    /// The bytes of their content.
    pub bytes: u64,
}

impl FileUsage {
    /// Counts one more file.
    pub fn add(&mut self, file: &FileInfo) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(file.size);
    }
}
