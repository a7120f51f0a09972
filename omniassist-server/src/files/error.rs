use std::error::Error as StdError;
use std::fmt;

use crate::BoxError;

/// The error of a file that could not be stored or read. Its text is safe to show to anyone.
#[derive(Debug)]
pub struct FileError {
    kind: Kind,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    TooLarge(u64),
    Empty,
    Type(String),
    /// The name and the value of the limit.
    Quota(&'static str, u64),
    TooManyUploads(usize),
    Overloaded,
    Off,
    Store,
}

impl From<Kind> for FileError {
    fn from(kind: Kind) -> Self {
        Self { kind, source: None }
    }
}

impl FileError {
    pub(crate) fn store(source: BoxError) -> Self {
        Self { kind: Kind::Store, source: Some(source) }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns `true` if the file is larger than [`FileLimits::max_file_bytes`](super::FileLimits::max_file_bytes).
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.kind, Kind::TooLarge(_))
    }

    /// Returns `true` if the media type is none of [`FileLimits::media_types`](super::FileLimits::media_types).
    #[must_use]
    pub fn is_type_not_allowed(&self) -> bool {
        matches!(self.kind, Kind::Type(_))
    }

    /// Returns `true` if the principal has stored as much as it may.
    #[must_use]
    pub fn is_quota_exceeded(&self) -> bool {
        matches!(self.kind, Kind::Quota(..))
    }

    /// Returns `true` if the store failed. The source is the store's error.
    #[must_use]
    pub fn is_store_failure(&self) -> bool {
        self.kind == Kind::Store
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::TooLarge(limit) => write!(f, "The file is larger than {limit} bytes."),
            Kind::Empty => f.write_str("The file is empty."),
            Kind::Type(media_type) => write!(f, "Files of the type {media_type} are not accepted."),
            Kind::Quota(..) => f.write_str("You have stored as many files as you may."),
            Kind::TooManyUploads(_) => {
                f.write_str("You are uploading too much at the same time. Try again in a moment.")
            }
            Kind::Overloaded => {
                f.write_str("The server receives too many files at the same time. Try again in a moment.")
            }
            Kind::Off => f.write_str("The assistant keeps no files."),
            Kind::Store => f.write_str("Files cannot be stored or read right now."),
        }
    }
}

impl StdError for FileError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
