use std::error::Error as StdError;
use std::fmt;

use crate::BoxError;

/// An error of a document or a resource of an app. Clients get its kind, and never its source.
pub struct AppError {
    is_not_found: bool,
    source: Option<BoxError>,
}

impl AppError {
    /// Creates the error of an address at which there is nothing for the caller.
    #[must_use]
    pub fn not_found() -> Self {
        Self { is_not_found: true, source: None }
    }

    /// Creates the error of a source that cannot be reached, or whose answer cannot be used.
    #[must_use]
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self { is_not_found: false, source: Some(source.into()) }
    }

    /// Returns `true` if there is nothing for the caller.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.is_not_found
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_not_found {
            true => "the source has no such document or resource",
            false => "the source of the app cannot be used",
        })
    }
}

impl fmt::Debug for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppError")
            .field("is_not_found", &self.is_not_found)
            .field("source", &self.source)
            .finish()
    }
}

impl StdError for AppError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
