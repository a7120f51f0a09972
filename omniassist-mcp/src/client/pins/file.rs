use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tempfile::NamedTempFile;

use omniassist_core::{JsonText, Text};

use crate::client::McpError;

/// A file with the accepted definitions.
pub(super) struct PinFile {
    path: PathBuf,
}

type Pinned = BTreeMap<Text, BTreeMap<Text, JsonText>>;

#[derive(Serialize, Deserialize)]
struct Content<T> {
    version: u32,
    servers: T,
}

impl PinFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn read(&self) -> Result<Pinned, McpError> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pinned::new()),
            Err(error) => return Err(McpError::pin_file(error)),
        };
        let content: Content<Pinned> = serde_json::from_slice(&bytes).map_err(McpError::pin_file)?;
        match content.version {
            1 => Ok(content.servers),
            _ => Err(McpError::pin_file("the version of the file is not known")),
        }
    }

    /// Changes what the file has now, and returns it. Other processes that change it wait meanwhile.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, locked or replaced. It is as it was then.
    pub(super) fn change(&self, change: impl FnOnce(&mut Pinned)) -> Result<Pinned, McpError> {
        let _locked = self.lock().map_err(McpError::pin_file)?;
        let mut pinned = self.read()?;
        change(&mut pinned);
        self.write(&pinned)?;
        Ok(pinned)
    }

    /// Locks the file until the result is dropped or the process ends. The lock is on another file, because each change
    /// replaces this one.
    fn lock(&self) -> io::Result<File> {
        let mut path = self.path.clone().into_os_string();
        path.push(".guard");
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(file)
    }

    /// Replaces the file in one step.
    fn write(&self, pinned: &Pinned) -> Result<(), McpError> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let write = || {
            let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            serde_json::to_writer_pretty(&mut file, &Content { version: 1, servers: pinned })?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(|error| error.error)
        };
        write().map_err(McpError::pin_file)
    }
}
