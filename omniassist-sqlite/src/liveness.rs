//! The lock that tells a new process if others have the file open.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// A lock that all processes with the database share. The operating system ends it with the process.
#[derive(Debug)]
pub(crate) struct Liveness {
    file: File,
}

impl Liveness {
    /// Opens the file of the lock, and creates it if there is none.
    pub(crate) fn open(database: &Path) -> io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push("-lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        Ok(Self { file })
    }

    /// Takes the lock, and runs `alone` before that if no other process has it.
    ///
    /// Leases of processes that are dead then need not be waited for. Nothing else depends on the lock.
    pub(crate) fn enter<E: From<io::Error>>(&self, alone: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        match self.file.try_lock() {
            Ok(()) => {
                alone()?;
                self.file.unlock()?;
            }
            Err(TryLockError::WouldBlock) => {}
            // A file system without locks: leases alone decide.
            Err(TryLockError::Error(_)) => return Ok(()),
        }
        Ok(self.file.lock_shared()?)
    }
}
