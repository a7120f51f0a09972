//! The time before the first output of a run, in which a failure can still be answered with a status.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::chat_completions::ErrorObject;
use omniassist_core::event::{FinishReason, RunErrorCode};
use omniassist_core::{Error, RunEvent};

use crate::http::AssistantBody;
use crate::http::response::{EventBody, Rejection};
use crate::{Refusal, Run};

/// The reason why a run has no answer to stream.
#[derive(Debug)]
pub(in crate::http) enum NoAnswer {
    /// The assistant refused the request.
    Refused(Error),
    /// The run failed before its first output.
    Failed(Failure),
}

impl From<NoAnswer> for Rejection {
    fn from(reason: NoAnswer) -> Self {
        match reason {
            NoAnswer::Refused(error) => error.into(),
            NoAnswer::Failed(failure) => failure.into(),
        }
    }
}

/// A run that ended without an answer.
#[derive(Debug, Clone)]
pub(in crate::http) struct Failure {
    /// `None` for a run that was stopped.
    pub(in crate::http) code: Option<RunErrorCode>,
    pub(in crate::http) retry_after: Option<Duration>,
    /// The host's refusal that ended the run.
    pub(in crate::http) refusal: Option<Refusal>,
    /// Set when a server tool has run. It would run again if the client repeated the request.
    pub(in crate::http) has_run_tools: bool,
}

impl From<Failure> for Rejection {
    fn from(failure: Failure) -> Self {
        let error = failure.code.map_or_else(ErrorObject::stopped, ErrorObject::of);
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let rejection = match failure.refusal {
            Some(refusal) => refusal.into(),
            None => Self::new(status, error.code, error.message).with_retry_after(failure.retry_after),
        };
        // OpenAI's clients repeat requests automatically unless this header forbids it.
        let is_final = failure.has_run_tools || !error.is_retryable;
        let value = is_final.then(|| HeaderValue::from_static("false"));
        rejection.with_header(HeaderName::from_static("x-should-retry"), value)
    }
}

/// Returns the error code of an event that ends a run without an answer. The inner `None` is a stopped run; the outer
/// `None` is any other event.
pub(in crate::http) fn failure_code(event: &RunEvent) -> Option<Option<RunErrorCode>> {
    match event {
        RunEvent::Error { code, .. } => Some(Some(*code)),
        RunEvent::Abort { .. } => Some(None),
        RunEvent::Finish { reason: FinishReason::Error | FinishReason::Interrupted, .. } => {
            Some(Some(RunErrorCode::ProviderError))
        }
        _ => None,
    }
}

/// Returns `true` for an event after which a server tool has run.
pub(in crate::http) fn is_tool_result(event: &RunEvent) -> bool {
    matches!(event, RunEvent::ToolOutput { preliminary: false, .. } | RunEvent::ToolError { .. })
}

/// Polls a run until it has output. After the keep-alive time, the response is opened without output, so that proxies
/// do not close the connection.
///
/// # Errors
///
/// Returns an error if the run ends without output.
pub(in crate::http) async fn open(
    run: Run,
    encoder: Box<dyn DialectEncoder>,
    keep_alive: Duration,
) -> Result<AssistantBody, NoAnswer> {
    let mut events = EventBody::new(run, encoder, keep_alive);
    let mut timeout = pin!(tokio::time::sleep(keep_alive));
    let mut has_run_tools = false;
    poll_fn(|cx| {
        while !events.has_something_to_send() {
            let Poll::Ready(event) = events.poll_event(cx) else {
                return timeout.as_mut().poll(cx).map(Ok);
            };
            let failed = match &event {
                Some(event) => failure_code(event),
                None => events.is_cut().then_some(Some(RunErrorCode::ProviderError)),
            };
            if let Some(code) = failed {
                let (retry_after, refusal) = (events.retry_after(), events.refusal());
                let failure = Failure { code, retry_after, refusal, has_run_tools };
                return Poll::Ready(Err(NoAnswer::Failed(failure)));
            }
            has_run_tools |= event.as_ref().is_some_and(is_tool_result);
        }
        Poll::Ready(Ok(()))
    })
    .await?;
    Ok(AssistantBody::opened(events))
}
