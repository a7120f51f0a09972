use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt;

use crate::files::{FileFuture, FileInfo, FileWriter};

/// The extension of a file that is not complete.
pub(super) const PART: &str = "part";

/// The extension of a description.
pub(super) const INFO: &str = "json";

/// Writes a file under a temporary name, and renames it at the end.
pub(super) struct FolderWriter {
    path: PathBuf,
    file: File,
    temporary: Temporary,
}

impl FolderWriter {
    /// Creates the temporary file of `path`.
    pub(super) async fn create(path: PathBuf) -> io::Result<Self> {
        let temporary = Temporary(path.with_extension(PART));
        let file = open(&temporary.0).await?;
        Ok(Self { path, file, temporary })
    }
}

impl FileWriter for FolderWriter {
    fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()> {
        Box::pin(async move { Ok(self.file.write_all(&chunk).await?) })
    }

    fn finish(self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()> {
        Box::pin(async move {
            let Self { path, mut file, temporary } = *self;
            complete(&mut file).await?;
            fs::rename(&temporary.0, &path).await?;
            // The same name serves the description: the content has left it.
            let mut description = open(&temporary.0).await?;
            description.write_all(&serde_json::to_vec(&info)?).await?;
            complete(&mut description).await?;
            fs::rename(&temporary.0, path.with_extension(INFO)).await?;
            Ok(())
        })
    }
}

async fn complete(file: &mut File) -> io::Result<()> {
    file.flush().await?;
    file.sync_all().await
}

async fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path).await
}

/// A temporary file. It is deleted on drop, if it is still there.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
