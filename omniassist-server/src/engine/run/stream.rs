use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use omniassist_core::event::{AgentState, RunErrorCode};
use omniassist_core::journal::Record;
use omniassist_core::message::{Message, MessageCollector, Role};
use omniassist_core::{FinishReason, RunEvent, Text, Usage};

use super::driver::Driver;
use super::live::{LiveRun, LiveRuns};
use crate::engine::end::End;
use crate::engine::plan::{Admission, Refusal};
use crate::observe::Settled;
use crate::store::ModelUsage;
use crate::{Cost, Error, panics};

/// Receives events, and decides after each one if more are wanted.
pub(crate) type EventSink<'a> = &'a mut dyn FnMut(RunEvent) -> ControlFlow<()>;

/// Returns the first event that `poll` passes to its sink, and `None` if it is ready without one.
pub(in crate::engine) fn poll_one(poll: impl FnOnce(EventSink<'_>) -> Poll<()>) -> Poll<Option<RunEvent>> {
    let mut next = None;
    let polled = poll(&mut |event| {
        next = Some(event);
        ControlFlow::Break(())
    });
    match next {
        Some(event) => Poll::Ready(Some(event)),
        None => polled.map(|()| None),
    }
}

/// A run, as a stream of its events. It makes progress only while it is polled.
///
/// The stream ends after exactly one of [`RunEvent::Finish`], [`RunEvent::Error`] and [`RunEvent::Abort`]. A run that is
/// not read for too long ends without one.
///
/// Dropping it stops the run: the connection to the provider closes and every tool's cancellation token fires.
#[must_use = "a run does nothing unless polled"]
pub struct Run {
    runs: Arc<LiveRuns>,
    key: u64,
    live: Arc<LiveRun>,
    continued: Option<Message>,
    message_id: Text,
}

impl Run {
    pub(in crate::engine) fn new(
        runs: Arc<LiveRuns>,
        (key, live): (u64, Arc<LiveRun>),
        continued: Option<Message>,
        message_id: Text,
    ) -> Self {
        Self { runs, key, live, continued, message_id }
    }

    /// Returns the id of the assistant message that the run writes.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        &self.message_id
    }

    /// Returns a handle that stops the run from elsewhere.
    #[must_use]
    pub fn handle(&self) -> RunHandle {
        RunHandle(Arc::downgrade(&self.live))
    }

    /// Returns the delay that a failed provider asks for before the next request.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.live.with(|driver| driver.retry_after()).flatten()
    }

    /// Returns the refusal of the host that ended the run.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.live.with(|driver| driver.refusal()).flatten()
    }

    /// Returns the host's decision about the beginning of the run, if it was made.
    pub(crate) fn admission(&self) -> Admission {
        self.live.with(|driver| driver.admission()).unwrap_or(Admission::Granted)
    }

    /// Returns `true` if the run is prepared. What a recovery withdraws is then among its events.
    pub(in crate::engine) fn is_prepared(&self) -> bool {
        self.live.with(|driver| driver.is_prepared()).unwrap_or(true)
    }

    /// Ends the run if its events are not read for [`write_timeout`](omniassist_core::Limits::write_timeout). HTTP
    /// responses use it.
    pub(crate) fn end_when_unread(&self) {
        self.live.end_when_unread();
    }

    /// Begins the trace and the records of the run.
    pub(in crate::engine) fn start(
        &self,
        continued: Option<&Message>,
        message_id: &Text,
        posted: Option<Vec<Message>>,
    ) {
        self.live.with(|driver| driver.start(continued, message_id, posted));
    }

    /// Makes the call of `on_finish` wait until the end of the run is durable.
    pub(in crate::engine) fn finish_after(&self, settled: Settled) {
        self.live.with(|driver| driver.finish_after(settled));
    }

    /// Returns `true` if the run was ended from outside.
    pub(in crate::engine) fn must_end(&self) -> bool {
        self.live.must_end()
    }

    /// Returns the records that belong in the journal of a stored run now, and `true` if the run waits for them.
    pub(in crate::engine) fn take_records(&self) -> Option<(Vec<Record>, bool)> {
        self.live.with(|driver| driver.take_records()).flatten()
    }

    /// Drops the run without a terminal event.
    pub(in crate::engine) fn discard(&self) {
        self.live.take();
    }

    /// Leaves a run that has not ended to the process that goes on with it.
    pub(in crate::engine) fn release(&self) {
        self.live.release();
    }

    /// Returns the model calls of a stored run that have ended since the last time.
    pub(in crate::engine) fn take_used(&self) -> Vec<ModelUsage> {
        self.live.with(|driver| driver.take_used()).unwrap_or_default()
    }

    /// Returns the usage of the run that is not in its own turns.
    pub(in crate::engine) fn usage_beside_turns(&self) -> Usage {
        self.live.with(|driver| driver.usage_beside_turns()).unwrap_or_default()
    }

    /// Lets a stored run go on. A panic of host code ends it.
    pub(in crate::engine) fn open_gate(&self) {
        // A stop or the deadline may have come while the records were written.
        if self.live.must_end() {
            return;
        }
        let opened = self.live.with(|driver| panics::catch("the run", || driver.open_gate()));
        if let Some(None) = opened {
            self.live.end(End::Panic);
        }
    }

    /// Ends the run.
    pub(in crate::engine) fn end(&self, end: End) {
        self.live.end(end);
    }

    /// Polls for the next event. Returns `None` after the terminal one.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        poll_one(|sink| self.poll_events(cx, sink))
    }

    /// Passes the events that are ready to `sink`, until it breaks. Returns `Pending` if there are or will be more events.
    pub(crate) fn poll_events(&mut self, cx: &mut Context<'_>, sink: EventSink<'_>) -> Poll<()> {
        let end = self.live.take_end(cx);
        let live = &self.live;
        let polled = live.with(|driver| poll_contained(driver, live, end, cx, sink));
        match polled {
            Some(Some(polled)) => polled,
            Some(None) => {
                live.take();
                let (code, message) = (RunErrorCode::Internal, RunErrorCode::Internal.safe_message());
                let _ = sink(RunEvent::Error { code, message: Text::from_static(message) });
                Poll::Ready(())
            }
            None => {
                live.mark_ended();
                Poll::Ready(())
            }
        }
    }

    async fn next(&mut self) -> Option<RunEvent> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Runs to the end and returns the visible text.
    ///
    /// # Errors
    ///
    /// Returns an error if the run fails or is stopped.
    pub async fn text(self) -> Result<String, RunFailure> {
        Ok(self.outcome().await?.written_text())
    }

    /// Runs to the end and returns the assistant message. A continued message includes its earlier parts.
    ///
    /// # Errors
    ///
    /// Returns an error if the run fails or is stopped.
    pub async fn message(self) -> Result<Message, RunFailure> {
        Ok(self.outcome().await?.message)
    }

    /// Runs to the end and returns the message, its usage and its cost.
    ///
    /// # Errors
    ///
    /// Returns an error if the run fails or is stopped.
    pub async fn outcome(mut self) -> Result<RunOutcome, RunFailure> {
        let continued_parts = self.continued.as_ref().map_or(0, |message| message.parts.len());
        let mut collector = match self.continued.take() {
            Some(message) => MessageCollector::continuing(message),
            None => MessageCollector::new(),
        };
        while let Some(event) = self.next().await {
            collector.apply(&event);
            let code = match event {
                RunEvent::Finish { reason, usage, .. } => {
                    let cost = self.live.with(|driver| driver.cost()).flatten();
                    return Ok(RunOutcome {
                        message: collector.into_message(),
                        usage,
                        cost,
                        reason,
                        continued_parts,
                    });
                }
                RunEvent::Error { code, .. } => Some(code),
                RunEvent::Abort { .. } => None,
                _ => continue,
            };
            let (retry_after, refusal) = (self.retry_after(), self.refusal());
            let source = self.live.with(|driver| driver.model_error()).flatten().filter(|_| code.is_some());
            let partial = Box::new(collector.into_message());
            return Err(RunFailure { code, retry_after, refusal, source, partial });
        }
        let partial = Box::new(collector.into_message());
        Err(RunFailure { code: None, retry_after: None, refusal: None, source: None, partial })
    }
}

/// Polls a run whose host code, such as a provider, can panic. A run that panics fails like any other. Returns `None` if
/// it panics again while it ends.
fn poll_contained(
    driver: &mut Driver,
    live: &LiveRun,
    end: Option<End>,
    cx: &mut Context<'_>,
    sink: EventSink<'_>,
) -> Option<Poll<()>> {
    let polled = panics::catch("the run", || {
        if let Some(end) = end {
            driver.end(end);
        }
        poll_driver(driver, live, cx, sink)
    });
    polled.or_else(|| {
        panics::catch("ending a run that had panicked", || {
            driver.end(End::Panic);
            poll_driver(driver, live, cx, sink)
        })
    })
}

fn poll_driver(driver: &mut Driver, live: &LiveRun, cx: &mut Context<'_>, sink: EventSink<'_>) -> Poll<()> {
    loop {
        let Some(event) = ready!(driver.poll_event(cx)) else {
            live.mark_ended();
            return Poll::Ready(());
        };
        if event.is_terminal() {
            live.mark_ended();
        }
        if sink(event).is_break() {
            return Poll::Pending;
        }
    }
}

impl Stream for Run {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.poll_event(cx)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.runs.remove(self.key);
        self.live.take();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}

/// The result of a run that succeeded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOutcome {
    /// The assistant message.
    pub message: Message,
    /// The tokens of all steps, and of a summary of the context.
    pub usage: Usage,
    /// The cost of all steps. `None` unless the assistant has [prices](crate::AssistantBuilder::prices), every model that
    /// answered has one, and every step reported its tokens.
    pub cost: Option<Cost>,
    /// The reason for the end. It is [`ToolCalls`](FinishReason::ToolCalls) if the run waits for an approval or a front-end
    /// tool. A job without a user offers neither with
    /// [`ClientAbilities::none`](omniassist_core::run::ClientAbilities::none).
    pub reason: FinishReason,
    continued_parts: usize,
}

impl RunOutcome {
    /// Returns `true` if the model refused to answer, or its answer was filtered.
    pub(in crate::engine) fn is_withheld(&self) -> bool {
        matches!(self.reason, FinishReason::Refusal | FinishReason::ContentFilter)
    }

    pub(in crate::engine) fn written_text(mut self) -> String {
        let written = self.message.parts.split_off(self.continued_parts.min(self.message.parts.len()));
        Message { parts: written, role: Role::Assistant, ..self.message }.text()
    }
}

/// An error that occurs when a run fails or is stopped. It holds the message written so far.
///
/// Its text is safe to show to anyone. If a model call failed, the source is the error of the provider, for the log.
#[derive(Debug, Clone)]
pub struct RunFailure {
    code: Option<RunErrorCode>,
    retry_after: Option<Duration>,
    refusal: Option<Refusal>,
    source: Option<Arc<Error>>,
    partial: Box<Message>,
}

impl RunFailure {
    /// Returns the stable code, or `None` if the run was stopped.
    #[must_use]
    pub fn code(&self) -> Option<RunErrorCode> {
        self.code
    }

    /// Returns `true` if the run was stopped and did not fail.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.code.is_none()
    }

    /// Returns the delay that the provider asks for before the next request, if it does.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the refusal, if a function that [prepares](crate::AssistantBuilder::prepare) runs or model calls refused
    /// this one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// Returns the assistant message written so far.
    #[must_use]
    pub fn into_partial(self) -> Message {
        *self.partial
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refusal {
            Some(refusal) => f.write_str(refusal.message()),
            None => f.write_str(self.code.map_or("the run was stopped", RunErrorCode::safe_message)),
        }
    }
}

impl StdError for RunFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|error| error as &(dyn StdError + 'static))
    }
}

/// A handle that stops a run from elsewhere. It does not keep the run alive.
#[derive(Debug, Clone)]
pub struct RunHandle(Weak<LiveRun>);

impl RunHandle {
    /// Stops the run, which ends with [`RunEvent::Abort`] and this reason. Does nothing if the run has ended.
    pub fn abort(&self, reason: impl Into<Text>) {
        if let Some(run) = self.0.upgrade() {
            run.end(End::Abort(reason.into()));
        }
    }

    /// Returns the agents that were asked in the run so far, each in its latest state, parents before those that they asked.
    /// An agent that is at work has the status [`Running`](omniassist_core::event::AgentStatus::Running). There are none after
    /// the [`Run`] was dropped. A stored run that another server has taken over shows those asked since then.
    ///
    /// Do not call it in a function that the run calls and that is not async, such as a condition of visibility.
    ///
    /// ```
    /// use omniassist_server::core::RunRequest;
    /// use omniassist_server::core::event::AgentStatus;
    /// use omniassist_server::testing::{ScriptedProvider, call, text};
    /// use omniassist_server::{Agent, Assistant};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedProvider::new()
    ///     .turn(call("researcher", json!({ "task": "How tall is it?" })))
    ///     .turn(text("8,849 m."))
    ///     .turn(text("It is 8,849 m tall."));
    /// let researcher = Agent::new("researcher", "Finds facts.");
    /// let assistant = Assistant::builder(model).agent(researcher).delegates(["researcher"]).build()?;
    ///
    /// let mut run = assistant.run(RunRequest::prompt("How tall is Mount Everest?"));
    /// let handle = run.handle();
    /// while let Some(event) = futures_util::StreamExt::next(&mut run).await {
    ///     drop(event);
    /// }
    /// let agents = handle.agents();
    /// assert_eq!((&*agents[0].name, agents[0].status), ("researcher", AgentStatus::Completed));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn agents(&self) -> Vec<AgentState> {
        self.0.upgrade().map(|run| run.agents()).unwrap_or_default()
    }

    /// Stops an agent that works for the run, with those that work for it. `agent_id` is that of its
    /// [state](omniassist_core::event::AgentState). The tool that asked gets a report with the status `cancelled` and the text
    /// so far, and the run and its other agents go on. Returns `false` if no such agent works.
    ///
    /// Do not call it in a function that the run calls and that is not async, such as a condition of visibility.
    #[expect(clippy::must_use_candidate, reason = "the stop is the effect")]
    pub fn stop_agent(&self, agent_id: &str) -> bool {
        self.0.upgrade().is_some_and(|run| run.stop_agent(agent_id))
    }

    /// Leaves the answer of the model to the process that goes on with the run.
    pub(in crate::engine) fn release(&self) {
        if let Some(run) = self.0.upgrade() {
            run.release();
        }
    }
}
