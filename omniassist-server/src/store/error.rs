use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::BoxError;

/// The future of a store's method.
///
/// A write that has begun may complete although its future was dropped. Each method can be repeated with the same values.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The error of a store. Nothing was written, or the writing is repeated without harm.
///
/// The text is safe to show to anyone. The source is the error of the database.
#[derive(Debug)]
pub struct StoreError {
    kind: Kind,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unavailable,
    Full,
    ReadOnly,
    Corrupt,
    Incompatible,
    MissingKey,
    Invalid,
    Gone,
    Other,
}

impl StoreError {
    /// Creates the error of a store that cannot be reached, is locked by another process, or answers too late.
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Unavailable, source)
    }

    /// Creates the error of a store that has no room left.
    pub fn full(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Full, source)
    }

    /// Creates the error of a store that only can be read.
    pub fn read_only(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::ReadOnly, source)
    }

    /// Creates the error of a store whose content cannot be read.
    pub fn corrupt(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Corrupt, source)
    }

    /// Creates the error of a store with tables that this version of the crate does not know.
    pub fn incompatible(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Incompatible, source)
    }

    /// Creates the error of a store whose content is encrypted with a key that is not given.
    pub fn missing_key(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::MissingKey, source)
    }

    /// Creates the error of a call that breaks the contract of its method.
    pub fn invalid(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Invalid, source)
    }

    /// Creates the error of a call for a run or a conversation that was deleted meanwhile.
    pub fn gone(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Gone, source)
    }

    /// Creates any other error.
    pub fn other(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Other, source)
    }

    fn new(kind: Kind, source: impl Into<BoxError>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// Returns `true` if the store cannot be reached at present, so that a later try may succeed.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind == Kind::Unavailable
    }

    /// Returns `true` if the store has no room left.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kind == Kind::Full
    }

    /// Returns `true` if the store cannot be written to.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.kind == Kind::ReadOnly
    }

    /// Returns `true` if the content of the store cannot be read.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.kind == Kind::Corrupt
    }

    /// Returns `true` if the store was made by something else, or needs a newer version of the crate.
    #[must_use]
    pub fn is_incompatible(&self) -> bool {
        self.kind == Kind::Incompatible
    }

    /// Returns `true` if the content is encrypted with a key that is not given, or that has another secret. The source
    /// names the key.
    #[must_use]
    pub fn is_missing_key(&self) -> bool {
        self.kind == Kind::MissingKey
    }

    /// Returns `true` if the call broke the contract of its method.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.kind == Kind::Invalid
    }

    /// Returns `true` if the run or the conversation of the call was deleted meanwhile.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.kind == Kind::Gone
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Unavailable => "The store is not available at present.",
            Kind::Full => "The store is full.",
            Kind::ReadOnly => "The store cannot be written to.",
            Kind::Corrupt => "The content of the store cannot be read.",
            Kind::Incompatible => "The store is not one that this version can use.",
            Kind::MissingKey => "The content of the store is encrypted with another key.",
            Kind::Invalid => "The store was called with invalid values.",
            Kind::Gone => "The store no longer has this.",
            Kind::Other => "The store failed.",
        })
    }
}

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
