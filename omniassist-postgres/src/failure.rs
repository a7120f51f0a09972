use std::sync::Arc;
use std::time::Duration;

use omniassist_server::store::{NotSaved, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The reason why a method failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Postgres(Error),
    /// The database or the network has ended the connection.
    Ended(Arc<Error>),
    /// A column has a value of another type.
    Value(Error),
    /// A value has no meaning.
    Corrupt(&'static str),
    /// The database did not answer within this time.
    TooSlow(Duration),
    /// The change of a conversation is refused.
    Refused(NotSaved),
    /// The call breaks the contract of its method.
    Invalid(String),
    /// The tables are not those of this version.
    Incompatible(&'static str),
}

impl Failure {
    /// Returns `true` if the time was over, so that less work may succeed.
    pub(crate) fn is_timeout(&self) -> bool {
        match self {
            Self::TooSlow(_) => true,
            Self::Postgres(error) => error.code() == Some(&SqlState::QUERY_CANCELED),
            _ => false,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Postgres(error) => of_postgres(error),
            Failure::Ended(error) => Self::unavailable(error),
            Failure::Value(error) => Self::corrupt(error),
            Failure::Corrupt(reason) => Self::corrupt(reason),
            Failure::TooSlow(time) => {
                Self::unavailable(format!("the database did not answer within {time:?}"))
            }
            Failure::Refused(refused) => Self::invalid(format!("the change is refused: {refused:?}")),
            Failure::Invalid(reason) => Self::invalid(reason),
            Failure::Incompatible(reason) => Self::incompatible(reason),
        }
    }
}

fn of_postgres(error: Error) -> StoreError {
    let Some(code) = error.code() else {
        // The connection: refused, cut, or closed.
        return StoreError::unavailable(error);
    };
    if *code == SqlState::DISK_FULL {
        return StoreError::full(error);
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION || *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return StoreError::read_only(error);
    }
    if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        return StoreError::corrupt(error);
    }
    let is_table = [
        SqlState::DUPLICATE_TABLE,
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_TABLE,
    ];
    if is_table.contains(code) {
        return StoreError::incompatible(error);
    }
    // Connections, deadlocks and serialization, resources, locks and states of objects, operators, the system.
    let is_passing = ["08", "25", "40", "53", "55", "57", "58"];
    if is_passing.iter().any(|class| code.code().starts_with(class)) {
        return StoreError::unavailable(error);
    }
    StoreError::other(error)
}
