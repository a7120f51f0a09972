use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use omniassist_server::BoxError;

use super::cleaned;

/// An error of an MCP server, or of the file with the pins.
///
/// Its text is for operators. Models and clients read other texts, which contain nothing of it.
pub struct McpError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    NotAttached,
    Unreachable,
    Disconnected,
    TimedOut,
    NoCredentials,
    RefusedCredentials,
    AuthorizationNeeded,
    Authorization,
    CredentialStore,
    Forbidden,
    Busy,
    OverLimit(&'static str),
    Status(u16),
    Answer,
    PinFile,
    UnknownTool,
}

impl McpError {
    fn of(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, source: None }) }
    }

    fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    pub(super) fn not_attached() -> Self {
        Self::of(Kind::NotAttached)
    }

    pub(super) fn unreachable(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::Unreachable).with_source(source)
    }

    /// Creates the error of a request for which no connection could be made.
    pub(super) fn not_connected(source: Arc<Self>) -> Self {
        let kind = if source.is_unauthenticated() { source.inner.kind } else { Kind::Unreachable };
        Self::of(kind).with_source(source)
    }

    pub(super) fn disconnected() -> Self {
        Self::of(Kind::Disconnected)
    }

    pub(super) fn disconnected_by(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::Disconnected).with_source(source)
    }

    pub(super) fn timed_out() -> Self {
        Self::of(Kind::TimedOut)
    }

    pub(super) fn no_credentials() -> Self {
        Self::of(Kind::NoCredentials)
    }

    pub(super) fn refused_credentials(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::RefusedCredentials).with_source(source)
    }

    pub(super) fn authorization_needed() -> Self {
        Self::of(Kind::AuthorizationNeeded)
    }

    pub(super) fn authorization(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::Authorization).with_source(source)
    }

    pub(super) fn credential_store(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::CredentialStore).with_source(source)
    }

    pub(super) fn forbidden() -> Self {
        Self::of(Kind::Forbidden)
    }

    pub(super) fn busy() -> Self {
        Self::of(Kind::Busy)
    }

    pub(super) fn over_limit(limit: &'static str) -> Self {
        Self::of(Kind::OverLimit(limit))
    }

    pub(super) fn http_status(status: u16) -> Self {
        Self::of(Kind::Status(status))
    }

    pub(super) fn answer(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::Answer).with_source(source)
    }

    pub(super) fn pin_file(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::PinFile).with_source(source)
    }

    pub(super) fn unknown_tool() -> Self {
        Self::of(Kind::UnknownTool)
    }

    /// Returns the error with which the server refused a request.
    pub(super) fn refusal(&self) -> Option<&rmcp::ErrorData> {
        self.inner.source.as_ref()?.downcast_ref()
    }

    /// Returns the text of the error and of its sources, as an operator reads it. A part of them can be a text of the server.
    pub(super) fn text_with_sources(&self) -> String {
        let errors = std::iter::successors(Some(self as &(dyn StdError + 'static)), |&error| error.source());
        let texts: Vec<String> = errors.map(ToString::to_string).collect();
        cleaned::description(&texts.join(": "))
    }

    /// Returns `true` if the server is attached to no assistant.
    #[must_use]
    pub fn is_not_attached(&self) -> bool {
        self.inner.kind == Kind::NotAttached
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

    /// Returns `true` if the user has no credentials for the server, or none that it accepts.
    #[must_use]
    pub fn is_unauthenticated(&self) -> bool {
        let kind = self.inner.kind;
        matches!(kind, Kind::NoCredentials | Kind::RefusedCredentials | Kind::AuthorizationNeeded)
    }

    /// Returns `true` if the server did not accept the credentials.
    pub(super) fn has_refused_credentials(&self) -> bool {
        self.inner.kind == Kind::RefusedCredentials
    }

    /// Returns `true` if the user has to authorize the access to the server, for the first time, again, or for more. See
    /// [`McpServer::authorization_url`](super::McpServer::authorization_url).
    #[must_use]
    pub fn is_authorization_needed(&self) -> bool {
        self.inner.kind == Kind::AuthorizationNeeded
    }

    /// Returns `true` if an authorization, or the renewal of a token, has failed. The source has the reason.
    #[must_use]
    pub fn is_authorization_failed(&self) -> bool {
        self.inner.kind == Kind::Authorization
    }

    /// Returns `true` if the store of credentials could not be read or written.
    #[must_use]
    pub fn is_credential_store(&self) -> bool {
        self.inner.kind == Kind::CredentialStore
    }

    /// Returns `true` if the server refuses the user, although the user has authorized all that it requires.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.inner.kind == Kind::Forbidden
    }

    /// Returns `true` if an answer of the server is larger than allowed, such as the list of its tools.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::OverLimit(_))
    }

    /// Returns the status of HTTP with which the server answered, if the answer has no message of the protocol.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self.inner.kind {
            Kind::Status(status) => Some(status),
            _ => None,
        }
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
            Kind::NotAttached => {
                "the server is attached to no assistant: give an `Arc` of it to `tool_source`"
            }
            Kind::Unreachable => "the server cannot be reached",
            Kind::Disconnected => "the connection to the server was lost",
            Kind::TimedOut => "the server did not answer in time",
            Kind::NoCredentials => "the user has no credentials for the server",
            Kind::RefusedCredentials => "the server does not accept the credentials",
            Kind::AuthorizationNeeded => "the user has to authorize the access to the server",
            Kind::Authorization => "the authorization at the server has failed",
            Kind::CredentialStore => "the store of credentials cannot be used",
            Kind::Forbidden => "the server refuses the user",
            Kind::Busy => "too many users have calls under way",
            Kind::OverLimit(limit) => return write!(f, "the answer of the server is larger than {limit}"),
            Kind::Status(status) => {
                return write!(
                    f,
                    "the server answered with HTTP status {status} and no message of the protocol"
                );
            }
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
