use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use super::version::VERSION;

/// An error that occurs when a cassette is recorded, written, read or played.
///
/// Its predicates classify it. Its text names the file, the line and the cause, and never contains a header
/// or a body.
#[derive(Debug)]
pub struct CassetteError {
    kind: Kind,
    path: Option<PathBuf>,
    line: Option<usize>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

#[derive(Debug)]
enum Kind {
    /// The file or a socket cannot be used.
    Io(&'static str),
    /// The first line is not that of a cassette.
    NoCassette,
    Version(u64),
    /// An answer has no end.
    Truncated,
    /// A line stands in a wrong place.
    Malformed(&'static str),
    /// The recorder could not record.
    Recording(&'static str),
}

impl CassetteError {
    fn new(kind: Kind) -> Self {
        Self { kind, path: None, line: None, source: None }
    }

    pub(super) fn io(what: &'static str, source: std::io::Error) -> Self {
        Self::new(Kind::Io(what)).with_source(source)
    }

    pub(super) fn no_cassette() -> Self {
        Self::new(Kind::NoCassette).at(1)
    }

    pub(super) fn version(found: u64) -> Self {
        Self::new(Kind::Version(found)).at(1)
    }

    pub(super) fn truncated(line: usize) -> Self {
        Self::new(Kind::Truncated).at(line)
    }

    pub(super) fn malformed(line: usize, what: &'static str) -> Self {
        Self::new(Kind::Malformed(what)).at(line)
    }

    pub(super) fn recording(what: &'static str) -> Self {
        Self::new(Kind::Recording(what))
    }

    pub(super) fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(super) fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// Returns `true` if this build does not read the file's version of the format.
    #[must_use]
    pub fn is_version_mismatch(&self) -> bool {
        matches!(self.kind, Kind::Version(_))
    }

    /// Returns `true` if the file is cut: its last answer has no end.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self.kind, Kind::Truncated)
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
        f.write_str(": ")?;
        match self.kind {
            Kind::Io(what) | Kind::Malformed(what) | Kind::Recording(what) => f.write_str(what),
            Kind::NoCassette => f.write_str("no cassette begins like this"),
            Kind::Version(found) => {
                write!(
                    f,
                    "written in version {found} of the format, and this build reads version {VERSION}; record it again"
                )
            }
            Kind::Truncated => f.write_str("the file breaks off before its last answer ends"),
        }
    }
}

impl StdError for CassetteError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
