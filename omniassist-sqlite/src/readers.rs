use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::failure::Failure;
use crate::{SqliteOptions, open};

/// The limit of connections that read.
const MAX_READERS: usize = 4;

/// The connections that read, on the blocking threads of tokio.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    options: SqliteOptions,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: &Path, options: &SqliteOptions) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(MAX_READERS));
        Arc::new(Self { path: path.to_owned(), options: options.clone(), idle: Mutex::default(), permits })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads from one state of the database.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_closed| Failure::Stopped)?;
        let readers = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let idle = readers.idle().pop();
            let connection = idle.map_or_else(|| open::reader(&readers.path, &readers.options), Ok)?;
            let result = within_transaction(&connection, work);
            readers.idle().push(connection);
            result
        });
        read.await.unwrap_or(Err(Failure::Stopped))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn within_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.unchecked_transaction()?;
    work(&transaction)
}
