mod text;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error in a client's request or a provider's answer.
///
/// Use its predicates to distinguish errors; its text may change. It contains the path and the kind of the offending
/// value, and never the value itself.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    code: ErrorCode,
    path: Option<String>,
    expected: Option<Cow<'static, str>>,
    found: Option<Cow<'static, str>>,
    limit: Option<(&'static str, usize)>,
    retry_after: Option<Duration>,
    run: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The stable, machine-readable class of an [`Error`]. Clients receive its [`as_str`](Self::as_str).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The bytes are not JSON.
    InvalidJson,
    /// A field is missing or of an unexpected type; [`Error::path`] is its path.
    InvalidRequest,
    /// A limit of [`Limits`](crate::Limits) was exceeded; [`Error::limit`] is its name.
    LimitExceeded,
    /// A client declared a tool with the name of a server tool, or with an invalid name.
    InvalidTool,
    /// A stream violates its format.
    InvalidStream,
    /// The same message is already being answered.
    DuplicateRun,
    /// The chat has an active run, and the host does not replace it.
    ChatBusy,
    /// As many runs of the chat wait in its queue as may.
    QueueFull,
    /// The stored chat does not have the message that the posted one follows.
    UnknownParent,
    /// The question has another answer, or what followed its answer is no longer kept.
    AlreadyAnswered,
    /// No run waits for the answer.
    NotWaiting,
    /// The idempotency key belongs to a post with another message.
    IdempotencyKeyReused,
    /// The chat was deleted.
    ChatDeleted,
    /// The events of the run are no longer kept.
    EventsExpired,
    /// The store of conversations cannot be used at present.
    StoreUnavailable,
    /// A part was posted as the server's own without proof; [`Error::path`] is its path.
    SealInvalid,
    /// The principal has reached its limit of concurrent runs.
    TooManyRuns,
    /// The principal starts runs too often.
    RateLimited,
    /// The principal has used up its token budget.
    TokenBudgetExceeded,
    /// A limit of the host could not be checked.
    LimitsUnavailable,
    /// An agent of the host cannot be loaded at present.
    AgentsUnavailable,
    /// The configuration of an agent of the host has an error.
    AgentInvalid,
    /// A source of tools without which no run begins cannot be used at present.
    ToolSourceUnavailable,
    /// The server has reached its limit of concurrent runs.
    Overloaded,
    /// The server is shutting down and starts no further runs.
    ShuttingDown,
    /// The host failed.
    Internal,
}

impl ErrorCode {
    /// Returns the code as sent to clients.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidRequest => "invalid_request",
            Self::LimitExceeded => "limit_exceeded",
            Self::InvalidTool => "invalid_tool",
            Self::InvalidStream => "invalid_stream",
            Self::DuplicateRun => "duplicate_run",
            Self::ChatBusy => "chat_busy",
            Self::QueueFull => "queue_full",
            Self::UnknownParent => "unknown_parent",
            Self::AlreadyAnswered => "already_answered",
            Self::NotWaiting => "not_waiting",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::ChatDeleted => "chat_deleted",
            Self::EventsExpired => "events_expired",
            Self::StoreUnavailable => "store_unavailable",
            Self::SealInvalid => "seal_invalid",
            Self::TooManyRuns => "too_many_runs",
            Self::RateLimited => "rate_limited",
            Self::TokenBudgetExceeded => "token_budget_exceeded",
            Self::LimitsUnavailable => "limits_unavailable",
            Self::AgentsUnavailable => "agents_unavailable",
            Self::AgentInvalid => "agent_invalid",
            Self::ToolSourceUnavailable => "tool_source_unavailable",
            Self::Overloaded => "overloaded",
            Self::ShuttingDown => "shutting_down",
            Self::Internal => "internal",
        }
    }
}

impl Error {
    fn new(code: ErrorCode) -> Self {
        let (path, expected, found, limit, retry_after, run, source) = Default::default();
        Self { inner: Box::new(Inner { code, path, expected, found, limit, retry_after, run, source }) }
    }

    fn at(mut self, path: impl Into<String>) -> Self {
        self.inner.path = Some(path.into());
        self
    }

    fn expecting(mut self, expected: impl Into<Cow<'static, str>>) -> Self {
        self.inner.expected = Some(expected.into());
        self
    }

    fn until(mut self, retry_after: Duration) -> Self {
        self.inner.retry_after = Some(retry_after);
        self
    }

    /// Creates the error of bytes that are not JSON.
    #[must_use]
    pub fn invalid_json(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let mut error = Self::new(ErrorCode::InvalidJson);
        error.inner.source = Some(source.into());
        error
    }

    /// Creates the error of a field at `path` (such as `messages[2].parts[0].text`) that contains `found` instead of
    /// `expected`.
    #[must_use]
    pub fn invalid_field(
        path: impl Into<String>,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        let mut error = Self::new(ErrorCode::InvalidRequest).at(path).expecting(expected);
        error.inner.found = Some(found.into());
        error
    }

    /// Creates the error of a request that exceeds the limit `name` at `path`. `limit` is its value.
    #[must_use]
    pub fn limit_exceeded(name: &'static str, limit: usize, path: impl Into<Option<String>>) -> Self {
        let mut error = Self::new(ErrorCode::LimitExceeded);
        (error.inner.limit, error.inner.path) = (Some((name, limit)), path.into());
        error
    }

    /// Creates the error of an invalid tool declaration at `path`.
    #[must_use]
    pub fn invalid_tool(path: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidTool).at(path).expecting(reason)
    }

    /// Creates the error of a stream that violates its own format.
    #[must_use]
    pub fn invalid_stream(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidStream).expecting(expected)
    }

    /// Creates the error of a message that is already being answered.
    #[must_use]
    pub fn duplicate_run() -> Self {
        Self::new(ErrorCode::DuplicateRun)
    }

    /// Creates the error of a chat whose run must end before the next one begins.
    #[must_use]
    pub fn chat_busy() -> Self {
        Self::new(ErrorCode::ChatBusy)
    }

    /// Creates the error of a chat in whose queue `limit` runs wait.
    #[must_use]
    pub fn queue_full(limit: usize) -> Self {
        let mut error = Self::new(ErrorCode::QueueFull);
        error.inner.limit = Some(("max_queued_runs", limit));
        error
    }

    /// Adds the id of the run that is in the way.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.inner.run = Some(run.into());
        self
    }

    /// Creates the error of a message that follows one that the stored chat does not have.
    #[must_use]
    pub fn unknown_parent() -> Self {
        Self::new(ErrorCode::UnknownParent)
    }

    /// Creates the error of an answer to a question that has its answer.
    #[must_use]
    pub fn already_answered() -> Self {
        Self::new(ErrorCode::AlreadyAnswered)
    }

    /// Creates the error of an answer that no run waits for.
    #[must_use]
    pub fn not_waiting() -> Self {
        Self::new(ErrorCode::NotWaiting)
    }

    /// Creates the error of a post whose `Idempotency-Key` belongs to a post with another message.
    #[must_use]
    pub fn idempotency_key_reused() -> Self {
        Self::new(ErrorCode::IdempotencyKeyReused).at("Idempotency-Key")
    }

    /// Creates the error of a chat that was deleted.
    #[must_use]
    pub fn chat_deleted() -> Self {
        Self::new(ErrorCode::ChatDeleted)
    }

    /// Creates the error of a run whose events are no longer kept.
    #[must_use]
    pub fn events_expired() -> Self {
        Self::new(ErrorCode::EventsExpired)
    }

    /// Creates the error of a store that cannot be used at present. It may be usable after `retry_after`.
    #[must_use]
    pub fn store_unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorCode::StoreUnavailable).until(retry_after)
    }

    /// Creates the error of a principal that has `limit` concurrent runs
    /// ([`Limits::max_runs_per_principal`](crate::Limits::max_runs_per_principal)).
    #[must_use]
    pub fn too_many_runs(limit: usize, retry_after: Duration) -> Self {
        let mut error = Self::new(ErrorCode::TooManyRuns).until(retry_after);
        error.inner.limit = Some(("max_runs_per_principal", limit));
        error
    }

    /// Creates the error of a principal that starts runs too often.
    #[must_use]
    pub fn rate_limited(retry_after: Duration) -> Self {
        Self::new(ErrorCode::RateLimited).until(retry_after)
    }

    /// Creates the error of a principal that has used up its tokens. More are available after `retry_after`.
    #[must_use]
    pub fn token_budget_exceeded(retry_after: Duration) -> Self {
        Self::new(ErrorCode::TokenBudgetExceeded).until(retry_after)
    }

    /// Creates the error of a server that cannot check a limit of the host. It may be able to after `retry_after`.
    #[must_use]
    pub fn limits_unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorCode::LimitsUnavailable).until(retry_after)
    }

    /// Creates the error of an agent that cannot be loaded. It may be loaded after `retry_after`.
    #[must_use]
    pub fn agents_unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorCode::AgentsUnavailable).until(retry_after)
    }

    /// Creates the error of an agent whose configuration is invalid. It may be corrected after `retry_after`. Clients do not
    /// learn what is wrong.
    #[must_use]
    pub fn agent_invalid(retry_after: Duration) -> Self {
        Self::new(ErrorCode::AgentInvalid).until(retry_after)
    }

    /// Creates the error of a source of tools that has no tools for the run. It may have them after `retry_after`. Clients do
    /// not learn the name of the source.
    #[must_use]
    pub fn tool_source_unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorCode::ToolSourceUnavailable).until(retry_after)
    }

    /// Creates the error of a server that has reached its limit of concurrent runs. Clients do not learn the limit.
    #[must_use]
    pub fn overloaded(retry_after: Duration) -> Self {
        Self::new(ErrorCode::Overloaded).until(retry_after)
    }

    /// Creates the error of a server that is shutting down. Another one may be available after `retry_after`.
    #[must_use]
    pub fn shutting_down(retry_after: Duration) -> Self {
        Self::new(ErrorCode::ShuttingDown).until(retry_after)
    }

    /// Creates the error of a failure inside the host, which the client did not cause.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(ErrorCode::Internal)
    }

    /// Creates the error of a part at `path` that was posted as the server's own and was not written by the server.
    #[must_use]
    pub fn seal_invalid(path: impl Into<String>) -> Self {
        Self::new(ErrorCode::SealInvalid).at(path)
    }

    /// Returns `true` if the state of the chat prevents the run (HTTP 409): another run, or messages or answers that the
    /// client does not have.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        let code = self.inner.code;
        matches!(
            code,
            ErrorCode::DuplicateRun
                | ErrorCode::ChatBusy
                | ErrorCode::QueueFull
                | ErrorCode::UnknownParent
                | ErrorCode::AlreadyAnswered
                | ErrorCode::NotWaiting
        )
    }

    /// Returns `true` if the chat was deleted, or the events of its run are no longer kept (HTTP 410).
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.inner.code, ErrorCode::ChatDeleted | ErrorCode::EventsExpired)
    }

    /// Returns `true` if something failed inside the host (HTTP 500).
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.inner.code == ErrorCode::Internal
    }

    /// Returns `true` if the server accepts no runs at the moment (HTTP 503). The same request may succeed
    /// [later](Self::retry_after).
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.inner.code,
            ErrorCode::LimitsUnavailable
                | ErrorCode::AgentsUnavailable
                | ErrorCode::AgentInvalid
                | ErrorCode::ToolSourceUnavailable
                | ErrorCode::StoreUnavailable
                | ErrorCode::Overloaded
                | ErrorCode::ShuttingDown
        )
    }

    /// Returns `true` if this principal has reached one of its limits (HTTP 429). The same request may succeed
    /// [later](Self::retry_after).
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        matches!(
            self.inner.code,
            ErrorCode::TooManyRuns | ErrorCode::RateLimited | ErrorCode::TokenBudgetExceeded
        )
    }

    /// Returns the time after which the same request may be acceptable, if it is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Returns the id of the run that is in the way, if it is known.
    #[must_use]
    pub fn run(&self) -> Option<&str> {
        self.inner.run.as_deref()
    }

    /// Returns the stable class of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.inner.code
    }

    /// Returns the path of the offending value in the request, such as `messages[2].parts[0].text`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.inner.path.as_deref()
    }

    /// Returns the expected value.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.inner.expected.as_deref()
    }

    /// Returns the kind of the offending value; never the value itself.
    #[must_use]
    pub fn found(&self) -> Option<&str> {
        self.inner.found.as_deref()
    }

    /// Returns the name and value of the limit that was exceeded.
    #[must_use]
    pub fn limit(&self) -> Option<(&'static str, usize)> {
        self.inner.limit
    }

    /// Returns `true` if a limit was exceeded.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        self.inner.code == ErrorCode::LimitExceeded
    }

    /// Puts `prefix` before the path of the error.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.inner.path = Some(match self.inner.path.take() {
            None => prefix.to_owned(),
            Some(path) if path.starts_with('[') => format!("{prefix}{path}"),
            Some(path) => format!("{prefix}.{path}"),
        });
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("code", &self.inner.code).field("message", &format_args!("{self}"));
        shown.field("source", &self.inner.source).finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
