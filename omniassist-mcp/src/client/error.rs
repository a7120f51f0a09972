use std::error::Error as StdError;
use std::fmt;

/// An error of an MCP server, or of the file with the pins.
///
/// Its text is for operators. Models and clients read other texts, which contain nothing of it.
pub struct McpError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unreachable,
    Disconnected,
    TimedOut,
    NoCredentials,
    Busy,
    OverLimit(&'static str),
    Answer,
    PinFile,
    UnknownTool,
}

impl McpError {
    fn of(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, source: None }) }
    }

    fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    pub(super) fn unreachable(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(Kind::Unreachable).with_source(source)
    }

    pub(super) fn disconnected() -> Self {
        Self::of(Kind::Disconnected)
    }

    pub(super) fn disconnected_by(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(Kind::Disconnected).with_source(source)
    }

    pub(super) fn timed_out() -> Self {
        Self::of(Kind::TimedOut)
    }

    pub(super) fn no_credentials() -> Self {
        Self::of(Kind::NoCredentials)
    }

    pub(super) fn busy() -> Self {
        Self::of(Kind::Busy)
    }

    pub(super) fn over_limit(limit: &'static str) -> Self {
        Self::of(Kind::OverLimit(limit))
    }

    pub(super) fn answer(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(Kind::Answer).with_source(source)
    }

    pub(super) fn pin_file(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(Kind::PinFile).with_source(source)
    }

    pub(super) fn unknown_tool() -> Self {
        Self::of(Kind::UnknownTool)
    }

    /// Returns `true` if no connection could be made.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.inner.kind == Kind::Unreachable
    }

    /// Returns `true` if the connection was lost.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.kind == Kind::Disconnected
    }

    /// Returns `true` if the server did not answer in time.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.inner.kind == Kind::TimedOut
    }

    /// Returns `true` if the user has no credentials for the server.
    #[must_use]
    pub fn is_unauthenticated(&self) -> bool {
        self.inner.kind == Kind::NoCredentials
    }

    /// Returns `true` if the list of the server's tools is larger than allowed.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::OverLimit(_))
    }

    /// Returns `true` if the file with the pins could not be read or written.
    #[must_use]
    pub fn is_pin_file(&self) -> bool {
        self.inner.kind == Kind::PinFile
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner.kind {
            Kind::Unreachable => "the server cannot be reached",
            Kind::Disconnected => "the connection to the server was lost",
            Kind::TimedOut => "the server did not answer in time",
            Kind::NoCredentials => "the user has no credentials for the server",
            Kind::Busy => "too many users have calls under way",
            Kind::OverLimit(limit) => return write!(f, "the list of tools is larger than {limit}"),
            Kind::Answer => "the server's answer cannot be used",
            Kind::PinFile => "the file with the pins cannot be used",
            Kind::UnknownTool => "no tool of this name waits to be accepted",
        })
    }
}

impl fmt::Debug for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpError")
            .field("kind", &self.inner.kind)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl StdError for McpError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}
