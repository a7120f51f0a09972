use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use tokio::fs;
use tokio_util::io::ReaderStream;

use super::write::{FolderWriter, INFO, PART, blocking};
use crate::files::upload::CHUNK_BYTES;
use crate::files::{FileContent, FileFuture, FileInfo, FileKey, FileStore, FileUsage, FileWriter};
use crate::{BoxError, Principal, clock};

/// The time after which a file without a description counts as abandoned by a stopped server.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps files in a folder of this machine. Cloning is cheap.
///
/// Each principal has its own folder, whose name does not reveal its id. A file has a random name, and its description
/// is stored beside it as JSON. It is written under a temporary name, synchronised with the disk and then renamed, so a
/// crash leaves no incomplete file. On Unix, only the user of the server can read files and folders.
///
/// Expired files are deleted when their principal uploads again. Call [`remove_expired`](Self::remove_expired) from time to
/// time for the others. Several instances may share a folder; the quota of a principal is then checked by each alone.
///
/// ```
/// use omniassist_server::files::FolderStore;
///
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("omniassist-folder-{}", std::process::id()));
/// let store = FolderStore::open(&path)?;
/// # std::fs::remove_dir_all(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FolderStore {
    root: Arc<Path>,
}

impl FolderStore {
    /// Opens the folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created. The error has its path.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let root = path.as_ref();
        create_folder(root)
            .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", root.display())))?;
        Ok(Self { root: root.into() })
    }

    /// Deletes the expired files of all principals, and the files of uploads that a stopped server did not complete.
    /// Returns the number of deleted files.
    ///
    /// # Errors
    ///
    /// Fails if a folder cannot be read or a file cannot be deleted.
    pub async fn remove_expired(&self) -> io::Result<usize> {
        let root = Arc::clone(&self.root);
        blocking(move || {
            let mut removed = 0;
            for folder in std::fs::read_dir(root)? {
                let folder = folder?;
                if is_of_principal(&folder.file_name()) {
                    removed += clear(&folder.path())?;
                }
            }
            Ok(removed)
        })
        .await
    }

    fn path(&self, key: &FileKey) -> PathBuf {
        self.root.join(key.path())
    }
}

impl FileStore for FolderStore {
    fn create<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Box<dyn FileWriter>> {
        Box::pin(async move {
            let (path, folder) = (self.path(key), self.root.join(FileKey::folder_of(&key.owner)));
            blocking(move || create_folder(&folder)).await?;
            Ok(Box::new(FolderWriter::create(path).await?) as Box<dyn FileWriter>)
        })
    }

    fn find<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Option<FileInfo>> {
        Box::pin(async move {
            match fs::read(self.path(key).with_extension(INFO)).await {
                Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn read<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, FileContent> {
        Box::pin(async move {
            let file = fs::File::open(self.path(key)).await?;
            let chunks = ReaderStream::with_capacity(file, CHUNK_BYTES);
            Ok(Box::pin(chunks.map(|chunk| chunk.map_err(BoxError::from))) as FileContent)
        })
    }

    fn delete<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, ()> {
        Box::pin(async move {
            let path = self.path(key);
            Ok(blocking(move || remove(&path)).await?)
        })
    }

    fn usage<'a>(&'a self, owner: &'a Principal) -> FileFuture<'a, FileUsage> {
        let folder = self.root.join(FileKey::folder_of(owner));
        Box::pin(async move { Ok(blocking(move || usage(&folder)).await?) })
    }
}

/// Counts the files in the folder of a principal, and deletes the expired ones.
fn usage(folder: &Path) -> io::Result<FileUsage> {
    let mut usage = FileUsage::default();
    for path in list(folder)? {
        if path.extension().is_some_and(|extension| extension == INFO) {
            match described(&path)? {
                Some(info) if info.is_expired(clock::now_ms()) => remove(&path)?,
                Some(info) => usage.add(&info),
                None => {}
            }
        }
    }
    Ok(usage)
}

/// Returns `true` for the name of a principal's folder. Others may lie beside them, such as the `lost+found` of a volume.
fn is_of_principal(name: &OsStr) -> bool {
    name.len() == 64 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
}

/// Deletes expired and abandoned files in the folder of a principal.
fn clear(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for path in list(folder)? {
        let is_over = if path.extension().is_some_and(|extension| extension == INFO) {
            described(&path)?.is_some_and(|info| info.is_expired(clock::now_ms()))
        } else {
            let is_complete = path.extension().is_none() && path.with_extension(INFO).exists();
            let age =
                || SystemTime::now().duration_since(path.metadata()?.modified()?).map_err(io::Error::other);
            !is_complete && age().is_ok_and(|age| age > ABANDONED)
        };
        if is_over {
            remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns the paths in a folder; none if there is no such folder.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Reads a description. Returns `None` if it was deleted in the meantime.
fn described(path: &Path) -> io::Result<Option<FileInfo>> {
    match std::fs::read(path) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Deletes a file in all its forms; the description goes first, so that the file can no longer be found.
fn remove(path: &Path) -> io::Result<()> {
    for path in [path.with_extension(INFO), path.with_extension(""), path.with_extension(PART)] {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}
