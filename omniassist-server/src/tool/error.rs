use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use omniassist_core::Text;

use super::output;

/// What the model and the user read when a tool fails for a reason that is not theirs.
const SAFE_TEXT: &str = "The tool failed.";

/// Why a tool call failed.
///
/// Two kinds of failure, told apart by how the error is made:
///
/// - [`ToolError::new`]: a sentence for the model and the user (“There is no order A-17.”). Both see it as it is.
/// - `?` on any [`std::error::Error`], or [`ToolError::internal`]: both see only “The tool failed.”; the error and its
///   sources go to `tracing` with the tool's name and the call's id.
///
/// For that `?` to work, `ToolError` is itself no [`std::error::Error`].
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
    source: Option<Box<dyn StdError + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The text was written for the reader.
    Told,
    /// The text is a fixed sentence; the reason is for the log.
    Internal,
    Panicked,
    TimedOut,
    Cancelled,
}

impl ToolError {
    fn of(kind: Kind, text: impl Into<Cow<'static, str>>) -> Self {
        Self { inner: Box::new(Inner { kind, text: text.into(), source: None }) }
    }

    /// A failure that the model and the user are told of in these words.
    #[must_use]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Kind::Told, text)
    }

    /// A failure whose reason only the log sees. Takes what `?` does not: `anyhow::Error`, a boxed error, a string.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of(Kind::Internal, SAFE_TEXT).with_source(source)
    }

    /// Adds the reason, for the log only.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
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

    /// What the model and the user read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The reason, as it is logged.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.inner.source.as_deref()
    }

    /// Whether the tool ran longer than it may.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.inner.kind == Kind::TimedOut
    }

    /// Whether the run was stopped before the tool was done.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.kind == Kind::Cancelled
    }

    /// Whether the tool panicked.
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

    /// Writes what nobody but the host may know to the log.
    pub(crate) fn log(&self, tool: &Text, call_id: &Text) {
        // As strings, which a subscriber escapes: the provider chooses the id.
        let (tool, call_id) = (tool.as_str(), call_id.as_str());
        match (self.inner.kind, &self.inner.source) {
            (Kind::Told | Kind::Cancelled, None) => {
                tracing::debug!(tool, call_id, text = self.text(), "tool call failed");
            }
            (Kind::TimedOut, _) => tracing::warn!(tool, call_id, text = self.text(), "tool call failed"),
            (_, Some(source)) => {
                tracing::error!(
                    tool,
                    call_id,
                    error = Chain(source.as_ref()).to_string(),
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

/// `60 s`, `1.5 s`.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

/// An error and what caused it, on one line.
struct Chain<'a>(&'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}
