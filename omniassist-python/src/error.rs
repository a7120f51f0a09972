use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omniassist_server::BoxError;

/// An error of the machinery that runs programs. The error of a program is a [`CodeOutcome`](crate::CodeOutcome).
///
/// It is opaque; use its predicates.
pub struct PythonError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    source: Option<BoxError>,
}

#[derive(Debug)]
enum Kind {
    Missing(PathBuf),
    Version { path: PathBuf, found: Option<Box<str>>, needed: &'static str },
    Busy(Duration),
    Stale,
    Waiting,
    Worker,
}

impl PythonError {
    fn new(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, source: None }) }
    }

    /// Creates the error of a runner that has no worker free within this time.
    #[must_use]
    pub fn busy(waited: Duration) -> Self {
        Self::new(Kind::Busy(waited))
    }

    /// Creates the error of a runner that cannot go on with a program that waited for the user, because it was suspended by
    /// another version, or with other limits.
    #[must_use]
    pub fn stale() -> Self {
        Self::new(Kind::Stale)
    }

    /// Creates the end of a program that waits for the user; see [`Session::call_waiting`](crate::Session::call_waiting).
    #[must_use]
    pub fn waiting() -> Self {
        Self::new(Kind::Waiting)
    }

    /// Creates the error of a worker that cannot be started, limited or reached.
    #[must_use]
    pub fn worker(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Worker).with_source(source)
    }

    #[cfg_attr(not(feature = "monty"), expect(dead_code, reason = "only the pool looks for a runtime"))]
    pub(crate) fn missing(path: &Path) -> Self {
        Self::new(Kind::Missing(path.to_owned()))
    }

    #[cfg_attr(not(feature = "monty"), expect(dead_code, reason = "only the pool looks for a runtime"))]
    pub(crate) fn version(path: &Path, found: Option<&str>, needed: &'static str) -> Self {
        Self::new(Kind::Version { path: path.to_owned(), found: found.map(Into::into), needed })
    }

    /// Sets the reason. Default: none.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Returns `true` if there is no runtime at the path.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.inner.kind, Kind::Missing(_))
    }

    /// Returns `true` if the file at the path is not the runtime of the version that this crate needs.
    #[must_use]
    pub fn is_wrong_version(&self) -> bool {
        matches!(self.inner.kind, Kind::Version { .. })
    }

    /// Returns `true` if a program that waited for the user cannot go on, because it was suspended by another version of the
    /// interpreter, or with other limits.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self.inner.kind, Kind::Stale)
    }

    /// Returns `true` if the program waits for the user.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.inner.kind, Kind::Waiting)
    }

    /// Returns `true` if no worker became free in time.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.inner.kind, Kind::Busy(_))
    }
}

impl fmt::Display for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.kind {
            Kind::Missing(path) => {
                write!(f, "there is no Python runtime at `{}`; ", path.display())?;
                f.write_str("install it with `pip install pydantic-monty-runtime==0.0.23`, and give the path of `monty`")
            }
            Kind::Version { path, found, needed } => {
                let found = found.as_deref().unwrap_or("no Python runtime");
                write!(f, "`{}` is {found}, and version {needed} is needed; ", path.display())?;
                write!(f, "install it with `pip install pydantic-monty-runtime=={needed}`")
            }
            Kind::Busy(waited) => write!(f, "no worker became free within {} s", waited.as_secs_f64()),
            Kind::Stale => f.write_str("the program was suspended by another version, or with other limits"),
            Kind::Waiting => f.write_str("the program waits for the user"),
            Kind::Worker => f.write_str("the worker failed"),
        }
    }
}

impl fmt::Debug for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonError")
            .field("kind", &self.inner.kind)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl StdError for PythonError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
