use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::BoxError;

/// The version of the file format that this build reads and writes.
pub(super) const VERSION: u64 = 1;

/// An error that occurs when a cassette is recorded, written, read or played.
///
/// Its predicates classify it. Its text names the file, the line and the cause, and never contains a header or a body.
#[derive(Debug)]
pub struct CassetteError {
    kind: Kind,
    what: Cow<'static, str>,
    path: Option<PathBuf>,
    line: Option<usize>,
    source: Option<BoxError>,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// The file has another version.
    Version,
    /// An answer has no end.
    Truncated,
    Other,
}

impl CassetteError {
    fn new(kind: Kind, what: impl Into<Cow<'static, str>>, line: Option<usize>) -> Self {
        Self { kind, what: what.into(), path: None, line, source: None }
    }

    /// Creates an error of a file or a socket, or of the recorder.
    pub(super) fn other(what: &'static str) -> Self {
        Self::new(Kind::Other, what, None)
    }

    pub(super) fn io(what: &'static str, source: std::io::Error) -> Self {
        Self::other(what).with_source(source)
    }

    pub(super) fn version(found: u64) -> Self {
        let what = format!(
            "written in version {found} of the format, and this build reads version {VERSION}; record it again"
        );
        Self::new(Kind::Version, what, Some(1))
    }

    pub(super) fn truncated(line: usize) -> Self {
        Self::new(Kind::Truncated, "the file breaks off before its last answer ends", Some(line))
    }

    /// Creates an error of a line that is invalid or in a wrong position.
    pub(super) fn malformed(line: usize, what: &'static str) -> Self {
        Self::new(Kind::Other, what, Some(line))
    }

    pub(super) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(super) fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Returns `true` if this build does not read the file's version of the format.
    #[must_use]
    pub fn is_version_mismatch(&self) -> bool {
        self.kind == Kind::Version
    }

    /// Returns `true` if the file is cut: its last answer has no end.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.kind == Kind::Truncated
    }

    /// Returns the line of the file, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "cassette {}", path.display())?,
            None => f.write_str("cassette")?,
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl StdError for CassetteError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
