//! The time before a run says its first word, in which a failure can still be told by a status.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use omniassist_core::RunEvent;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::chat_completions::ErrorObject;
use omniassist_core::event::{FinishReason, RunErrorCode};

use super::body::EventBody;
use super::{AssistantBody, reply};
use crate::Run;

/// A run that ended without an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    /// `None` for a run that was stopped.
    pub(super) code: Option<RunErrorCode>,
    pub(super) retry_after: Option<Duration>,
    /// Whether a tool of the server's has run: then it runs again if the request is sent again.
    pub(super) has_run_tools: bool,
}

impl Failure {
    /// How it is told: the status and the safe sentence are the same in all formats.
    pub(super) fn error(&self) -> ErrorObject {
        self.code.map_or_else(ErrorObject::stopped, ErrorObject::of)
    }

    /// Tells clients when to try again, and those that do so by themselves whether to.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        reply::add_retry_after(headers, self.retry_after);
        if self.has_run_tools || !self.error().is_retryable {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
    }
}

/// Why a run that did this has no answer; the outer `None` for anything but such an end.
pub(super) fn failing(event: &RunEvent) -> Option<Option<RunErrorCode>> {
    match event {
        RunEvent::Error { code, .. } => Some(Some(*code)),
        RunEvent::Abort { .. } => Some(None),
        RunEvent::Finish { reason: FinishReason::Error, .. } => Some(Some(RunErrorCode::ProviderError)),
        _ => None,
    }
}

/// Whether an event tells that a tool of the server's has run.
pub(super) fn tells_of_a_tool(event: &RunEvent) -> bool {
    matches!(event, RunEvent::ToolOutput { preliminary: false, .. } | RunEvent::ToolError { .. })
}

/// Polls a run until there is something to send. After the keep-alive time the response is opened all the same, so
/// that nobody in between takes the connection for dead.
pub(super) async fn open(
    run: Run,
    encoder: Box<dyn DialectEncoder>,
    keep_alive: Duration,
) -> Result<AssistantBody, Failure> {
    let mut events = EventBody::new(run, encoder, keep_alive);
    let mut patience = pin!(tokio::time::sleep(keep_alive));
    let mut has_run_tools = false;
    poll_fn(|cx| {
        while !events.has_something_to_send() {
            let Poll::Ready(event) = events.poll_event(cx) else {
                return patience.as_mut().poll(cx).map(Ok);
            };
            let failed = match &event {
                Some(event) => failing(event),
                None => events.is_cut().then_some(Some(RunErrorCode::ProviderError)),
            };
            if let Some(code) = failed {
                let retry_after = events.retry_after();
                return Poll::Ready(Err(Failure { code, retry_after, has_run_tools }));
            }
            has_run_tools |= event.as_ref().is_some_and(tells_of_a_tool);
        }
        Poll::Ready(Ok(()))
    })
    .await?;
    Ok(AssistantBody::opened(events))
}
