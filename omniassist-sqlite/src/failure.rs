use std::io::ErrorKind;
use std::sync::Arc;

use omniassist_server::store::{NotSaved, StoreError};
use rusqlite::{Error, ErrorCode};

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
        match failure {
            Failure::Sqlite(error) => of_sqlite(Arc::new(error)),
            Failure::Shared(error) => of_sqlite(error),
            Failure::File(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => Self::read_only(error),
            Failure::File(error) if error.kind() == ErrorKind::PermissionDenied => Self::read_only(error),
            Failure::File(error) => Self::unavailable(error),
            Failure::Stopped => Self::unavailable("the store has stopped"),
            Failure::Refused(refused) => Self::invalid(format!("the change is refused: {refused:?}")),
            Failure::Invalid(reason) => Self::invalid(reason),
            Failure::Incompatible(reason) => Self::incompatible(reason),
        }
    }
}

fn of_sqlite(error: Arc<Error>) -> StoreError {
    let is_value = matches!(
        *error,
        Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
    );
    if is_value {
        return StoreError::corrupt(error);
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen) => {
            StoreError::unavailable(error)
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => StoreError::unavailable(error),
        Some(ErrorCode::DiskFull) => StoreError::full(error),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::read_only(error),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::corrupt(error),
        _ => StoreError::other(error),
    }
}
