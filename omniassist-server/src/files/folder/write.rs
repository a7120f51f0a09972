use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::task::spawn_blocking;

use crate::files::{FileFuture, FileInfo, FileWriter};

/// The extension of a file that is not complete.
pub(super) const PART: &str = "part";

/// The extension of a description.
pub(super) const INFO: &str = "json";

/// Writes a file under a temporary name, and renames it at the end.
pub(super) struct FolderWriter {
    path: PathBuf,
    file: tokio::fs::File,
    temporary: Temporary,
}

impl FolderWriter {
    /// Creates the temporary file of `path`.
    pub(super) async fn create(path: PathBuf) -> io::Result<Self> {
        // On a thread that a client which leaves does not stop: it deletes a file that nobody takes.
        blocking(move || {
            let temporary = Temporary(path.with_extension(PART));
            let file = options().open(&temporary.0)?.into();
            Ok(Self { path, file, temporary })
        })
        .await
    }
}

impl FileWriter for FolderWriter {
    fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()> {
        Box::pin(async move { Ok(self.file.write_all(&chunk).await?) })
    }

    fn finish(self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()> {
        Box::pin(async move {
            let Self { path, mut file, temporary } = *self;
            file.flush().await?;
            let file = file.into_std().await;
            // On a thread that a client which leaves does not stop: content without a description would count for no quota.
            Ok(blocking(move || complete(&path, &file, &temporary, &info)).await?)
        })
    }
}

/// Gives the content its name, and writes the description. After an error, neither is left.
fn complete(path: &Path, content: &File, temporary: &Temporary, info: &FileInfo) -> io::Result<()> {
    content.sync_all()?;
    std::fs::rename(&temporary.0, path)?;
    let described = (|| {
        // The same name serves the description: the content has left it.
        let mut description = options().open(&temporary.0)?;
        description.write_all(&serde_json::to_vec(info)?)?;
        description.sync_all()?;
        std::fs::rename(&temporary.0, path.with_extension(INFO))
    })();
    described.inspect_err(|_| drop(std::fs::remove_file(path)))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A temporary file. It is deleted on drop, if it is still there.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs file operations on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
