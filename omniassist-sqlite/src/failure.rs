use std::error::Error as StdError;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omniassist_server::store::{NotSaved, StoreError};
use rusqlite::{Error, ErrorCode};

type BoxError = Box<dyn StdError + Send + Sync>;

/// The reason why a job wrote nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    Sqlite(Error),
    /// The error of a transaction that several jobs shared.
    Shared(Arc<Error>),
    /// The writer, or the runtime, has stopped.
    Stopped,
    /// The change of a conversation is refused.
    Refused(NotSaved),
    /// The lock file, or the thread, cannot be created.
    File(std::io::Error),
    /// The call breaks the contract of its method.
    Invalid(&'static str),
    /// The database, or its file system, is not one that this version can use.
    Incompatible(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let (kind, source) = failure.into_parts();
        kind(source)
    }
}

impl Failure {
    /// Returns the error of a file that cannot be opened, with its path.
    pub(crate) fn of_file(self, path: &Path) -> StoreError {
        let (kind, source) = self.into_parts();
        kind(Box::new(NotOpened { path: path.to_owned(), source }))
    }

    /// Returns the constructor of the error for the host, and its source.
    fn into_parts(self) -> (fn(BoxError) -> StoreError, BoxError) {
        match self {
            Self::Sqlite(error) => of_sqlite(Arc::new(error)),
            Self::Shared(error) => of_sqlite(error),
            Self::File(error) => match error.kind() {
                ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                    (StoreError::read_only, error.into())
                }
                _ => (StoreError::unavailable, error.into()),
            },
            Self::Stopped => (StoreError::unavailable, "the store has stopped".into()),
            Self::Refused(refused) => {
                (StoreError::invalid, format!("the change is refused: {refused:?}").into())
            }
            Self::Invalid(reason) => (StoreError::invalid, reason.into()),
            Self::Incompatible(reason) => (StoreError::incompatible, reason.into()),
        }
    }
}

fn of_sqlite(error: Arc<Error>) -> (fn(BoxError) -> StoreError, BoxError) {
    let is_value = matches!(
        *error,
        Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
    );
    let kind: fn(BoxError) -> StoreError = match error.sqlite_error_code() {
        _ if is_value => StoreError::corrupt,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen) => {
            StoreError::unavailable
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => StoreError::unavailable,
        Some(ErrorCode::DiskFull) => StoreError::full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::read_only,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::corrupt,
        _ => StoreError::other,
    };
    (kind, error.into())
}

/// The error of a file that cannot be opened.
#[derive(Debug)]
struct NotOpened {
    path: PathBuf,
    source: BoxError,
}

impl fmt::Display for NotOpened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be opened", self.path.display())
    }
}

impl StdError for NotOpened {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}
