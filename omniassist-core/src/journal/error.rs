use std::error::Error as StdError;
use std::fmt;

/// An error that occurs when a journal is read or written.
pub struct JournalError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Corrupt(&'static str),
    Version(u8),
    Required(u64),
    Incomplete,
    Unwritable(serde_json::Error),
}

impl JournalError {
    pub(super) fn corrupt(what: &'static str) -> Self {
        Self { kind: Kind::Corrupt(what) }
    }

    pub(super) fn version(version: u8) -> Self {
        Self { kind: Kind::Version(version) }
    }

    pub(super) fn required(kind: u64) -> Self {
        Self { kind: Kind::Required(kind) }
    }

    pub(super) fn incomplete() -> Self {
        Self { kind: Kind::Incomplete }
    }

    pub(super) fn unwritable(source: serde_json::Error) -> Self {
        Self { kind: Kind::Unwritable(source) }
    }

    /// Returns `true` if the bytes are not those that were written, or if segments are missing.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self.kind, Kind::Corrupt(_) | Kind::Incomplete)
    }

    /// Returns `true` if a later version of this crate wrote the journal.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        matches!(self.kind, Kind::Version(_) | Kind::Required(_))
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Corrupt(what) => write!(f, "the segment of the journal is corrupt: {what}"),
            Kind::Version(version) => {
                write!(f, "the segment of the journal has the unknown version {version}")
            }
            Kind::Required(kind) => {
                write!(f, "the journal has a record of the unknown kind {kind}, and it is required")
            }
            Kind::Incomplete => f.write_str("the journal lacks events of a turn"),
            Kind::Unwritable(_) => f.write_str("the event has no JSON form"),
        }
    }
}

impl fmt::Debug for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JournalError").field(&self.kind).finish()
    }
}

impl StdError for JournalError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.kind {
            Kind::Unwritable(source) => Some(source),
            _ => None,
        }
    }
}
