use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use omniassist_core::Text;
use omniassist_core::event::RunErrorCode;

use crate::BoxError;
use crate::tool::ToolError;

/// A refusal of a run, or of a model call, by a function that prepares it.
///
/// There are two kinds:
///
/// - [`Refusal::new`]: a code and a sentence. The client gets both, in the form of its dialect.
/// - `?` on any [`std::error::Error`], or [`Refusal::internal`]: the client gets the code `internal` and HTTP status 500.
///   The error and its sources go to `tracing`.
///
/// A refusal by [`prepare`](crate::AssistantBuilder::prepare) is the whole HTTP response of the assistant's own routes. If
/// a response has begun, which is always so for [`prepare_step`](crate::AssistantBuilder::prepare_step) in a later step,
/// the refusal is the error that ends the stream.
///
/// `Refusal` itself does not implement [`std::error::Error`], so that `?` converts every type that does.
///
/// ```
/// use omniassist_server::{Principal, Refusal, RunPlan};
///
/// async fn paying(plan: &mut RunPlan, user: Principal) -> Result<(), Refusal> {
///     let credits: i64 = user.id().parse()?;
///     if credits <= 0 {
///         return Err(Refusal::new("no_credits", "Your credits are used up.").status(http::StatusCode::PAYMENT_REQUIRED));
///     }
///     plan.model(if credits > 100 { "large" } else { "small" });
///     Ok(())
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).prepare(paying).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a refusal has no effect unless it is returned"]
pub struct Refusal {
    code: &'static str,
    message: Text,
    status: StatusCode,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Refusal {
    /// Creates a refusal with a code for programs (`no_credits`) and a sentence for the user.
    pub fn new(code: &'static str, message: impl Into<Text>) -> Self {
        Self { code, message: message.into(), status: StatusCode::FORBIDDEN, retry_after: None, source: None }
    }

    /// Creates a refusal whose reason goes only to the log. It accepts types that `?` does not convert: `anyhow::Error`, a
    /// boxed error, a string.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        let code = RunErrorCode::Internal;
        let refusal = Self::new(code.as_str(), Text::from_static(code.safe_message()));
        Self { source: Some(source.into().into()), ..refusal.status(StatusCode::INTERNAL_SERVER_ERROR) }
    }

    /// Sets the HTTP status, where the response has not begun. A status that is not an error has no effect. Default: 403.
    pub fn status(mut self, status: StatusCode) -> Self {
        if status.is_client_error() || status.is_server_error() {
            self.status = status;
        }
        self
    }

    /// Sets the time after which the same request may succeed, for `Retry-After`. Default: none.
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the sentence for the user.
    #[must_use]
    pub fn message(&self) -> &Text {
        &self.message
    }

    pub(crate) fn http_status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn delay(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the reason that only the log gets.
    pub(in crate::engine) fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    /// Returns the code of a run that ends with this refusal.
    pub(in crate::engine) fn run_code(&self) -> RunErrorCode {
        if self.source.is_some() { RunErrorCode::Internal } else { RunErrorCode::Refused(self.code) }
    }
}

/// The decision of the host about the beginning of a run.
#[derive(Clone)]
pub(crate) enum Admission {
    Undecided,
    Granted,
    Refused(Box<Refusal>),
}

impl<E: StdError + Send + Sync + 'static> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::internal(error)
    }
}

/// Converts the error of an extractor: its sentence is the reason, with code `refused`.
impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        match error.into_source() {
            Ok(source) => Self::internal(source),
            Err(text) => Self::new("refused", text),
        }
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Refusal");
        shown.field("code", &self.code).field("message", &self.message).field("status", &self.status);
        shown.field("source", &self.source).finish()
    }
}
