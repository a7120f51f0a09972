use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use omniassist_core::Text;
use omniassist_core::event::RunErrorCode;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of any type, such as the reason of another one.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// An error of a provider, a tool registration or an assistant's configuration.
///
/// It is opaque; use its predicates. Its [`Display`](fmt::Display) output contains no secret and no provider body;
/// [`detail`](Self::detail) is for logs.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    status: Option<u16>,
    code: Option<String>,
    retry_after: Option<Duration>,
    request_id: Option<String>,
    detail: Option<String>,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Provider(ProviderErrorKind),
    Configuration(Cow<'static, str>),
    InvalidTool { name: String, reason: Cow<'static, str> },
    Refused(Refused),
    Stopped(RunErrorCode),
}

/// The decision of the host to end an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: &'static str,
    /// The sentence for the client.
    pub(crate) message: Text,
}

/// The kind of a provider error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The connection failed.
    Connect,
    /// A deadline passed: for the connection, the first byte, or silence in the stream.
    Timeout,
    /// The stream ended before the answer did.
    Interrupted,
    /// The provider answered with an error status, or an error in its stream.
    Response,
    /// The provider refused the credentials.
    Auth,
    /// A rate limit or quota was reached.
    RateLimited,
    /// The provider is overloaded or down.
    Unavailable,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The answer violates the protocol: it is not an event stream, not JSON or not UTF-8.
    Protocol,
    /// An event, a body or arguments exceeded a limit.
    TooLarge,
}

impl Error {
    fn new(kind: Kind) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                status: None,
                code: None,
                retry_after: None,
                request_id: None,
                detail: None,
                source: None,
            }),
        }
    }

    /// Creates a provider error. It is for implementations of a provider.
    #[must_use]
    pub fn provider(kind: ProviderErrorKind) -> Self {
        Self::new(Kind::Provider(kind))
    }

    /// Creates an error for an invalid setting of an assistant or a provider; `what` names the setting.
    #[must_use]
    pub fn configuration(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Configuration(what.into()))
    }

    /// Creates an error for a tool that cannot be registered.
    #[must_use]
    pub fn invalid_tool(name: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::InvalidTool { name: name.into(), reason: reason.into() })
    }

    /// Creates the error of an answer that the host refuses.
    pub(crate) fn refused(code: &'static str, message: Text) -> Self {
        Self::new(Kind::Refused(Refused { code, message }))
    }

    /// Creates the error of an answer that ends because of a limit of the host.
    pub(crate) fn stopped(code: RunErrorCode) -> Self {
        Self::new(Kind::Stopped(code))
    }

    /// Returns the code of the run, if a limit of the host ends it.
    pub(crate) fn stop(&self) -> Option<RunErrorCode> {
        match self.inner.kind {
            Kind::Stopped(code) => Some(code),
            _ => None,
        }
    }

    /// Returns the refusal of the host, if it is one.
    pub(crate) fn refusal(&self) -> Option<&Refused> {
        match &self.inner.kind {
            Kind::Refused(refused) => Some(refused),
            _ => None,
        }
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.inner.status = Some(status);
        self
    }

    /// Adds the provider's own error code (`insufficient_quota`).
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.inner.code = Some(code.into());
        self
    }

    /// Adds the delay that the provider asks for.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.inner.retry_after = Some(delay);
        self
    }

    /// Adds the provider's id of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.inner.request_id = Some(id.into());
        self
    }

    /// Adds a detail for logs only, such as the start of a provider's error body.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.inner.detail = Some(detail.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Inserts an error between this one and its source.
    pub(crate) fn map_source<E: StdError + Send + Sync + 'static>(
        mut self,
        wrap: impl FnOnce(Option<BoxError>) -> Box<E>,
    ) -> Self {
        self.inner.source = Some(wrap(self.inner.source.take()));
        self
    }

    /// Returns the kind of a provider error, or `None` for other errors.
    #[must_use]
    pub fn provider_kind(&self) -> Option<ProviderErrorKind> {
        match self.inner.kind {
            Kind::Provider(kind) => Some(kind),
            _ => None,
        }
    }

    /// Returns `true` if a tool could not be registered.
    #[must_use]
    pub fn is_invalid_tool(&self) -> bool {
        matches!(self.inner.kind, Kind::InvalidTool { .. })
    }

    /// Returns `true` if a setting of the assistant or a provider is invalid.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        matches!(self.inner.kind, Kind::Configuration(_))
    }

    /// Returns `true` if a deadline passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.provider_kind() == Some(ProviderErrorKind::Timeout)
    }

    /// Returns `true` if the conversation is longer than the model can read.
    #[must_use]
    pub fn is_context_overflow(&self) -> bool {
        self.provider_kind() == Some(ProviderErrorKind::ContextOverflow)
    }

    /// Returns `true` if the same request can succeed later. Repeating it is safe only if nothing was received yet.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        use ProviderErrorKind::{Connect, Interrupted, RateLimited, Timeout, Unavailable};
        matches!(self.provider_kind(), Some(Connect | Interrupted | RateLimited | Timeout | Unavailable))
            && self.code() != Some("insufficient_quota")
    }

    /// Returns the HTTP status of the provider's answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.inner.status
    }

    /// Returns the provider's own error code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.inner.code.as_deref()
    }

    /// Returns the delay that the provider asks for.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Returns the provider's id of the request, for its support.
    #[must_use]
    pub fn provider_request_id(&self) -> Option<&str> {
        self.inner.request_id.as_deref()
    }

    /// Returns the detail for logs.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.inner.detail.as_deref()
    }

    /// Returns the stable code that clients get for this error.
    #[must_use]
    pub fn run_code(&self) -> RunErrorCode {
        let kind = match &self.inner.kind {
            Kind::Provider(kind) => kind,
            Kind::Refused(refused) => return RunErrorCode::Refused(refused.code),
            Kind::Stopped(code) => return *code,
            Kind::Configuration(_) | Kind::InvalidTool { .. } => return RunErrorCode::Internal,
        };
        match kind {
            ProviderErrorKind::Connect | ProviderErrorKind::Unavailable => RunErrorCode::ProviderUnavailable,
            ProviderErrorKind::Timeout => RunErrorCode::Timeout,
            ProviderErrorKind::Interrupted => RunErrorCode::StreamInterrupted,
            ProviderErrorKind::Response | ProviderErrorKind::Protocol => RunErrorCode::ProviderError,
            ProviderErrorKind::Auth => RunErrorCode::ProviderAuth,
            ProviderErrorKind::RateLimited => RunErrorCode::RateLimited,
            ProviderErrorKind::ContextOverflow => RunErrorCode::ContextOverflow,
            ProviderErrorKind::TooLarge => RunErrorCode::LimitExceeded,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        match &inner.kind {
            Kind::Configuration(what) => f.write_str(what)?,
            Kind::Refused(refused) => write!(f, "the host refused the answer [{}]", refused.code)?,
            Kind::Stopped(code) => f.write_str(code.safe_message())?,
            Kind::InvalidTool { name, reason } => write!(f, "tool `{name}`: {reason}")?,
            Kind::Provider(kind) => f.write_str(match kind {
                ProviderErrorKind::Connect => "no connection to the model provider",
                ProviderErrorKind::Timeout => "the model provider took too long",
                ProviderErrorKind::Interrupted => "the model's answer ended before it was complete",
                ProviderErrorKind::Response => "the model provider answered with an error",
                ProviderErrorKind::Auth => "the model provider refused the credentials",
                ProviderErrorKind::RateLimited => "the model provider's rate limit or quota is used up",
                ProviderErrorKind::Unavailable => "the model provider is not available",
                ProviderErrorKind::ContextOverflow => "the conversation is too long for the model",
                ProviderErrorKind::Protocol => "the model provider's answer does not follow its protocol",
                ProviderErrorKind::TooLarge => "the model provider's answer passed a limit",
            })?,
        }
        if let Some(status) = inner.status {
            write!(f, " (status {status})")?;
        }
        if let Some(code) = &inner.code {
            // The provider's own word: a line break in it would forge a line of a log.
            write!(f, " [{}]", code.escape_debug())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        let mut shown = f.debug_struct("Error");
        shown.field("message", &format_args!("{self}"));
        if let Some(delay) = &inner.retry_after {
            shown.field("retry_after", delay);
        }
        if let Some(id) = &inner.request_id {
            shown.field("request_id", id);
        }
        if let Some(source) = &inner.source {
            shown.field("source", source);
        }
        shown.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
