use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use omniassist_core::Text;
use omniassist_core::run::Gate;

use super::output;
use crate::throttle::Throttled;
use crate::{BoxError, one_line};

/// The text for the model and the user when the reason of a failure is only for the log.
const SAFE_TEXT: &str = "The tool failed.";

/// The error of a call that the user must approve.
const APPROVAL_NEEDED: &str = "This call needs the user's approval. It was not run.";

/// An error of a tool call. There are two kinds:
///
/// - [`ToolError::new`]: a sentence for the model and the user (“There is no order A-17.”). Both see it as it is.
/// - `?` on any [`std::error::Error`], or [`ToolError::internal`]: both see only “The tool failed.”. The error and its
///   sources go to `tracing` with the tool's name and the call's id.
///
/// `ToolError` itself does not implement [`std::error::Error`], so that `?` converts every type that does.
///
/// ```
/// use omniassist_server::tool::ToolError;
///
/// fn parse(text: &str) -> Result<u32, ToolError> {
///     if text.is_empty() {
///         return Err(ToolError::new("The order number is empty."));
///     }
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("").unwrap_err().text(), "The order number is empty.");
/// assert_eq!(parse("x").unwrap_err().text(), "The tool failed.");
/// ```
pub struct ToolError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    text: Cow<'static, str>,
    /// The question for the user, if the call needs an approval.
    approval: Option<Gate>,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The text was written for the model and the user.
    Message,
    /// The text is a fixed sentence. The reason is only for the log.
    Internal,
    Panicked,
    TimedOut,
    Cancelled,
    /// The call waits for an approval.
    NeedsApproval,
    /// The call stays open: it waits for the user, or an agent does that the tool has asked.
    Waits,
    /// The state of a call is too large for it to wait.
    StateTooLarge,
    /// A limit of the tool refused the call.
    RateLimited,
    /// A limit of the tool could not be checked.
    Unchecked,
}

impl ToolError {
    fn of(kind: Kind, text: impl Into<Cow<'static, str>>) -> Self {
        Self { inner: Box::new(Inner { kind, text: text.into(), approval: None, source: None }) }
    }

    /// Creates an error with this text for the model and the user.
    #[must_use]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Kind::Message, text)
    }

    /// Creates an error whose reason goes only to the log. It accepts types that `?` does not convert: `anyhow::Error`, a
    /// boxed error, a string.
    #[must_use]
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::Internal, SAFE_TEXT).with_source(source)
    }

    /// Sets the reason, for the log only.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    pub(crate) fn panicked() -> Self {
        Self::of(Kind::Panicked, SAFE_TEXT)
    }

    pub(crate) fn timed_out(after: Duration) -> Self {
        Self::of(Kind::TimedOut, format!("The tool timed out after {}.", Seconds(after)))
    }

    pub(crate) fn cancelled() -> Self {
        Self::of(Kind::Cancelled, "The tool was cancelled.")
    }

    /// Creates the error of a call that a limit of the tool refused.
    pub(super) fn throttled(by: Throttled) -> Self {
        match by {
            Throttled::Wait(delay) => {
                let seconds = delay.as_secs().saturating_add(u64::from(delay.subsec_nanos() > 0)).max(1);
                let text =
                    format!("This tool was called too often and did not run. Try again in {seconds} s.");
                Self::of(Kind::RateLimited, text)
            }
            Throttled::Unchecked(_) => {
                let text = "This tool did not run: its rate limit cannot be checked now. Try again later.";
                Self::of(Kind::Unchecked, text)
            }
        }
    }

    /// Creates the end of a call that did not run, because the user must approve it.
    pub(super) fn needs_approval(gate: Gate) -> Self {
        let mut error = Self::approval_needed();
        error.inner.approval = Some(gate);
        error
    }

    /// Creates the end of a call that did not run because the user must approve it, for code that calls tools itself.
    #[must_use]
    pub fn approval_needed() -> Self {
        Self::of(Kind::NeedsApproval, APPROVAL_NEEDED)
    }

    /// Creates the end of a call that waits for the user.
    pub(crate) fn waits() -> Self {
        Self::of(Kind::Waits, "The call waits for the user.")
    }

    pub(crate) fn state_too_large() -> Self {
        Self::of(Kind::StateTooLarge, "The call cannot wait for the user: its state is too large.")
    }

    /// Returns `true` if the call cannot wait for the user, because its state is too large.
    #[must_use]
    pub fn is_state_too_large(&self) -> bool {
        self.inner.kind == Kind::StateTooLarge
    }

    /// Returns `true` if the call waits for the user, and the tool must return this error; see
    /// [`ask_user`](super::ToolContext::ask_user).
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.inner.kind == Kind::Waits
    }

    /// Returns `true` if the call did not run because the user must approve it.
    #[must_use]
    pub fn is_approval_needed(&self) -> bool {
        self.inner.kind == Kind::NeedsApproval
    }

    /// Returns the question for the user, if the call needs an approval.
    pub(crate) fn approval(&self) -> Option<&Gate> {
        self.inner.approval.as_ref()
    }

    /// Returns the text for the model and the user.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Returns the reason for the log.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.inner.source.as_deref()
    }

    /// Returns the reason for the log, or the text if there is no reason.
    pub(crate) fn into_source(self) -> Result<BoxError, String> {
        let Inner { source, text, .. } = *self.inner;
        source.ok_or_else(|| text.into_owned())
    }

    /// Returns `true` if the tool ran longer than allowed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.inner.kind == Kind::TimedOut
    }

    /// Returns `true` if the run was stopped before the tool ended.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.kind == Kind::Cancelled
    }

    /// Returns `true` if a [rate limit](crate::Tool::rate_limit) of the tool refused the call.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.inner.kind == Kind::RateLimited
    }

    /// Returns `true` if the tool panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.inner.kind == Kind::Panicked
    }

    /// Returns the name of the kind of error, for telemetry.
    pub(crate) fn kind(&self) -> &'static str {
        match self.inner.kind {
            Kind::TimedOut => "timeout",
            Kind::Cancelled => "cancelled",
            Kind::Panicked => "panic",
            Kind::NeedsApproval => "needs_approval",
            Kind::Waits => "waits",
            Kind::StateTooLarge => "state_too_large",
            Kind::RateLimited => "rate_limited",
            Kind::Unchecked => "limits_unavailable",
            _ if self.inner.source.is_some() => "internal",
            _ => "tool_error",
        }
    }

    /// Returns the error with a text of at most `max_bytes`.
    pub(crate) fn capped(mut self, max_bytes: usize) -> Self {
        if self.inner.text.len() > max_bytes {
            self.inner.text = output::cap_text(&self.inner.text, max_bytes).into();
        }
        self
    }

    pub(crate) fn log(&self, tool: &Text, call_id: &Text) {
        // As strings, which a subscriber escapes: the provider chooses the id.
        let (tool, call_id) = (tool.as_str(), call_id.as_str());
        match (self.inner.kind, &self.inner.source) {
            (
                Kind::Message
                | Kind::Cancelled
                | Kind::NeedsApproval
                | Kind::Waits
                | Kind::StateTooLarge
                | Kind::RateLimited
                | Kind::Unchecked,
                None,
            ) => {
                tracing::debug!(tool, call_id, text = self.text(), "tool call failed");
            }
            (Kind::TimedOut, _) => tracing::warn!(tool, call_id, text = self.text(), "tool call failed"),
            (_, Some(source)) => {
                tracing::error!(
                    tool,
                    call_id,
                    error = %one_line::chain(&**source),
                    "tool call failed"
                );
            }
            (_, None) => tracing::error!(tool, call_id, text = self.text(), "tool call failed"),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    /// Hides the error from the model and the user; see [`ToolError::internal`].
    fn from(source: E) -> Self {
        Self::internal(source)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("kind", &self.inner.kind)
            .field("text", &self.inner.text)
            .field("source", &self.inner.source)
            .finish()
    }
}

/// Formats a time as `60 s` or `1.5 s`.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}
