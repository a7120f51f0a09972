//! Posts that a store does not take, as errors for their clients.

use std::time::Duration;

use omniassist_core::Error;

use crate::one_line;
use crate::store::{NotSaved, StoreError};

/// The delay after which a store may be usable again.
pub(in crate::engine) const RETRY: Duration = Duration::from_secs(2);

/// Logs the error of a store, and returns the one for the client. A deletion is no error of the store.
pub(in crate::engine) fn by_store(error: &StoreError) -> Error {
    if error.is_gone() {
        return Error::chat_deleted();
    }
    tracing::error!(error = %one_line::chain(error), "the store of conversations failed");
    if error.is_unavailable() || error.is_full() || error.is_read_only() || error.is_missing_key() {
        return Error::store_unavailable(RETRY);
    }
    Error::internal()
}

/// Returns what was read, or `None` if it was deleted meanwhile. Logs other errors of the store.
///
/// # Errors
///
/// Returns the error for the client.
pub(in crate::engine) fn unless_gone<T>(read: Result<T, StoreError>) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_gone() => Ok(None),
        Err(error) => Err(by_store(&error)),
    }
}

/// Returns the error of a post whose change was not saved.
pub(in crate::engine) fn by_conversation(reason: &NotSaved) -> Error {
    match reason {
        NotSaved::Deleted => Error::chat_deleted(),
        NotSaved::OtherKey => Error::internal(),
        NotSaved::UnknownMessage(_) | NotSaved::Conflict(_) => Error::unknown_parent(),
    }
}
