use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use omniassist_core::event::AgentStatus;
use omniassist_core::journal::{Content, Record};
use omniassist_core::tree::{Limit, NodeId};
use omniassist_core::{FinishReason, RunEvent, Text, Usage};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

use super::asking::Asking;
use super::recorded::Recorded;
use super::shown::ShownAgent;
use crate::engine::meter::Meter;
use crate::panics;
use crate::store::ModelUsage;
use crate::telemetry::RunTrace;
use crate::tool::{AgentReport, Answered, ToolError, cap_text};
use crate::wake_flag::WakeFlag;

/// The reason for a stop of an agent whose asking tool has ended.
const LEFT: &str = "The agent is not needed any more.";

/// The reason for a stop by the host.
const STOPPED: &str = "The agent was stopped.";

/// The reason for the failure of an agent that cannot wait for the user, because its state is too long for a client.
const TOO_LONG: &str = "state_too_long";

/// The reason for the failure of an inner call that cannot wait for the user, because its tool has another call open.
const BESIDE: &str = "beside";

/// The error of the same for the log.
const ONE_BY_ONE: &str = "calls of a tool that wait for the user have to be made one after the other";

/// The reason for an answer in JSON that the asking tool cannot get, because it is too long for a report.
const CUT: &str = "answer_too_long";

/// The run of an agent that works for another one.
pub(in crate::engine) trait Work: Send {
    /// Polls for the next event. Returns `None` after the terminal one.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>>;

    /// Ends the run: an abort is its last event.
    fn stop(&mut self, reason: Text);

    /// Closes the trace of a run that is about to be dropped, and of those that work for it.
    fn leave(&mut self);

    /// Stops an agent that works for this one, or for one of those. Returns `false` if there is none with this id.
    fn stop_agent(&mut self, agent_id: &str) -> bool;

    /// Returns the trace, for the run that it belongs to.
    fn trace(&mut self) -> &mut RunTrace;

    /// Returns the model calls of a stored run that have ended since the last time.
    fn take_used(&mut self) -> Vec<ModelUsage>;

    /// Counts the tokens of the run for the budget of the host.
    fn meter_with(&mut self, meter: Meter);

    /// Returns `true` if the answer of a run that has not begun will have a type, in JSON.
    fn checks_answer(&self) -> bool;

    /// Returns the limit of the tree that allows the run no other model call.
    fn limit(&self) -> Option<Limit>;

    /// Returns `true` if there are records for the journal.
    fn has_records(&self) -> bool;

    /// Returns the records for the journal, and `true` if the run waits until they are durable.
    fn take_records(&mut self) -> Option<(Vec<Record>, bool)>;

    /// Lets a run go on that waits for its records.
    fn open_gate(&mut self);
}

/// An agent at work.
pub(super) struct Child {
    /// `None` for the call of a tool.
    pub(super) node: Option<NodeId>,
    pub(super) work: Box<dyn Work>,
    pub(super) shown: ShownAgent,
    reply: oneshot::Sender<Result<Answered, ToolError>>,
    deadline: Pin<Box<Sleep>>,
    /// Set by the deadline, and by the end of the asking tool.
    ending: WakeFlag,
    waker: Waker,
    stopped_as: Option<AgentStatus>,
    /// The text of the current step, and of the last one with any.
    text: String,
    last_text: String,
    end: Option<End>,
    /// Set if the agent may wait for the user.
    asking: Option<Box<Asking>>,
    /// Set for an agent of a stored run.
    recorded: Option<Box<Recorded>>,
    /// The events that an agent which goes on has shown before, until they were shown again.
    earlier: VecDeque<RunEvent>,
    has_panicked: bool,
    /// `true` if the answer has a type.
    is_typed: bool,
}

/// The end of an agent's work.
pub(super) struct Ended {
    /// The event for the client.
    pub(super) shown: Option<RunEvent>,
    /// The call of the asking tool, and the calls of the agent that wait for the user.
    pub(super) questions: Option<(Text, Vec<RunEvent>)>,
}

struct End {
    status: AgentStatus,
    reason: Option<Text>,
    usage: Usage,
}

impl Child {
    pub(super) fn new(
        node: Option<NodeId>,
        work: Box<dyn Work>,
        shown: ShownAgent,
        reply: oneshot::Sender<Result<Answered, ToolError>>,
        longest: Duration,
        waker: Waker,
        asking: Option<Box<Asking>>,
    ) -> Self {
        let deadline = Box::pin(sleep(longest));
        let (text, last_text) = (String::new(), String::new());
        let is_typed = work.checks_answer();
        Self {
            node,
            work,
            shown,
            reply,
            deadline,
            ending: WakeFlag::new(),
            waker,
            stopped_as: None,
            text,
            last_text,
            end: None,
            asking,
            recorded: None,
            earlier: VecDeque::new(),
            has_panicked: false,
            is_typed,
        }
    }

    /// Writes the events of the agent to the journal. `earlier` has the records of an agent that was interrupted.
    pub(super) fn store_after(&mut self, earlier: Vec<Record>) {
        for record in earlier {
            let event = match record.content {
                Content::Event(event) => event,
                Content::Deltas(deltas) => deltas.merged(),
                _ => continue,
            };
            self.take(&event);
            // The run has shown the agents below by their own ids.
            let shown = self.shown.event(event);
            self.earlier.extend(shown.filter(|shown| matches!(shown, RunEvent::AgentDelta { .. })));
        }
        let asked_by = self.shown.is_inner().then(|| self.shown.call_id());
        self.recorded = Some(Box::new(Recorded::new(self.shown.agent_id(), asked_by)));
    }

    /// Keeps an event in the message of the agent that the client is not shown.
    pub(super) fn keep(&mut self, event: &RunEvent) {
        if let Some(recorded) = &mut self.recorded {
            recorded.keep(event);
        }
        self.take(event);
    }

    /// Makes the questions of an inner call an error, because its tool has another call open.
    pub(super) fn forbid_beside(&mut self) {
        if let Some(asking) = &mut self.asking {
            asking.forbid_beside();
        }
    }

    /// Returns `true` if there are records for the journal.
    pub(super) fn has_records(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.is_due()) || self.work.has_records()
    }

    /// Appends the records for the journal. Returns `true` if the agent waits until they are durable.
    pub(super) fn take_records(&mut self, out: &mut Vec<Record>) -> bool {
        let Some(recorded) = &mut self.recorded else { return false };
        let (records, waits) = self.work.take_records().unwrap_or_default();
        recorded.take(records, out);
        waits
    }

    /// Lets the agent go on, whose records are durable.
    pub(super) fn open_gate(&mut self) {
        self.has_panicked |= panics::catch("an agent", || self.work.open_gate()).is_none();
    }

    /// Polls for the next event that the client is shown. Returns `None` at the end.
    pub(super) fn poll_event(&mut self) -> Poll<Option<RunEvent>> {
        if let Some(shown) = self.earlier.pop_front() {
            return Poll::Ready(Some(shown));
        }
        if self.has_panicked {
            return Poll::Ready(None);
        }
        loop {
            // A panic is an end. An event is written in place, since the boundary would move it twice.
            let mut polled = Poll::Ready(None);
            panics::catch("an agent", || {
                polled = self.work.poll_event(&mut Context::from_waker(&self.waker));
            });
            match polled {
                Poll::Pending if self.has_to_stop() => {}
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(event)) => {
                    if let Some(recorded) = &mut self.recorded {
                        recorded.event(&event);
                    }
                    self.take(&event);
                    if self.asking.as_ref().is_some_and(|asking| asking.is_shown(&event)) {
                        return Poll::Ready(Some(event));
                    }
                    if let Some(shown) = self.shown.event(event) {
                        return Poll::Ready(Some(shown));
                    }
                }
            }
        }
    }

    /// Stops the work if nobody waits for it any more, or its time is over. Returns `true` if it did.
    fn has_to_stop(&mut self) -> bool {
        if self.stopped_as.is_some() || !self.ending.take(&Context::from_waker(&self.waker)) {
            return false;
        }
        let cx = &mut Context::from_waker(self.ending.waker());
        self.stopped_as = if self.reply.poll_closed(cx).is_ready() {
            Some(AgentStatus::Cancelled)
        } else {
            self.deadline.as_mut().poll(cx).is_ready().then_some(AgentStatus::Incomplete)
        };
        if self.stopped_as.is_some() {
            self.work.stop(Text::from_static(LEFT));
        }
        self.stopped_as.is_some()
    }

    fn take(&mut self, event: &RunEvent) {
        if let Some(asking) = &mut self.asking {
            asking.take(event);
        }
        match event {
            RunEvent::TextDelta { delta, .. } => self.text.push_str(delta),
            RunEvent::StepReset => self.text.clear(),
            RunEvent::StepStart if !self.text.is_empty() => self.last_text = mem::take(&mut self.text),
            RunEvent::Finish { reason, usage } => self.end = Some(self.finished(reason, *usage)),
            RunEvent::Error { code, .. } => {
                let limit = self.work.limit();
                let (status, reason) = match limit {
                    Some(limit) => (AgentStatus::Incomplete, limit.as_str()),
                    None => (AgentStatus::Failed, code.as_str()),
                };
                self.end = Some(End { status, reason: Some(reason.into()), usage: self.used() });
            }
            RunEvent::Abort { .. } => {
                let status = self.stopped_as.unwrap_or(AgentStatus::Cancelled);
                let reason = match status {
                    AgentStatus::Incomplete => Limit::Time.as_str(),
                    _ => "stopped",
                };
                self.end = Some(End { status, reason: Some(reason.into()), usage: self.used() });
            }
            _ => {}
        }
    }

    /// Ends the work with its next poll.
    pub(super) fn cancel(&mut self) {
        if self.stopped_as.is_none() {
            self.stopped_as = Some(AgentStatus::Cancelled);
            self.work.stop(Text::from_static(STOPPED));
        }
    }

    /// Ends the work at once. Returns the ends of the agents below.
    pub(super) fn stop(&mut self) -> Vec<RunEvent> {
        self.stopped_as = Some(AgentStatus::Cancelled);
        self.work.stop(Text::from_static(LEFT));
        let mut below = Vec::new();
        // A run that was ended has its last events.
        let cx = &mut Context::from_waker(Waker::noop());
        while let Some(Poll::Ready(Some(event))) = panics::catch("an agent", || self.work.poll_event(cx)) {
            self.take(&event);
            if let RunEvent::AgentState(_) = event {
                below.push(event);
            }
        }
        below
    }

    fn finished(&self, reason: &FinishReason, usage: Usage) -> End {
        let limit = self.work.limit();
        let waits = self.asking.as_ref().is_some_and(|asking| asking.is_waiting());
        let (status, reason) = match reason {
            FinishReason::ToolCalls if waits => (AgentStatus::Waiting, None),
            // Its call has the result.
            _ if self.shown.is_inner() => (AgentStatus::Completed, None),
            _ if self.text.is_empty() && self.last_text.is_empty() => (AgentStatus::Failed, Some("empty")),
            _ if limit.is_some() => (AgentStatus::Incomplete, limit.map(Limit::as_str)),
            FinishReason::Stop => (AgentStatus::Completed, None),
            FinishReason::Length => (AgentStatus::Incomplete, Some("length")),
            _ => (AgentStatus::Incomplete, Some("other")),
        };
        End { status, reason: reason.map(Text::from_static), usage }
    }

    /// Returns the tokens of a run that did not finish.
    fn used(&mut self) -> Usage {
        self.work.trace().usage()
    }

    /// Ends the work: sends a report of at most this many bytes to the asking tool.
    pub(super) fn report(mut self, most_bytes: usize) -> Ended {
        let mut result = if self.text.is_empty() { self.last_text } else { self.text };
        let is_cut = result.len() > most_bytes;
        if is_cut {
            result = cap_text(&result, most_bytes);
        }
        let panicked = || End {
            status: AgentStatus::Failed,
            reason: Some("internal".into()),
            usage: self.work.trace().usage(),
        };
        let End { mut status, mut reason, usage } = self.end.take().unwrap_or_else(panicked);
        if is_cut && self.is_typed && status == AgentStatus::Completed {
            (status, reason) = (AgentStatus::Incomplete, Some(Text::from_static(CUT)));
        }
        let agent_id = self.shown.agent_id().clone();
        let mut questions = None;
        if status == AgentStatus::Waiting {
            let asked_by = self.shown.call_id().clone();
            let asking = self.asking.take();
            let refused =
                if asking.as_ref().is_some_and(|asking| asking.is_beside()) { BESIDE } else { TOO_LONG };
            questions = asking
                .and_then(|asking| asking.into_questions(&agent_id, &asked_by))
                .map(|questions| (asked_by, questions));
            if questions.is_none() {
                (status, reason) = (AgentStatus::Failed, Some(Text::from_static(refused)));
            }
        }
        if self.shown.is_inner() {
            let waits = questions.is_some();
            let answer = match self.asking.and_then(|asking| asking.into_end()) {
                _ if waits => Err(ToolError::waits()),
                _ if reason.as_deref() == Some(TOO_LONG) => Err(ToolError::state_too_large()),
                _ if reason.as_deref() == Some(BESIDE) => Err(ToolError::internal(ONE_BY_ONE)),
                Some(end) => Ok(Answered::Call(end)),
                None => Err(ToolError::cancelled()),
            };
            drop(self.reply.send(answer));
            return Ended { shown: None, questions };
        }
        let (result, is_typed) = (result.into(), self.is_typed);
        let report = AgentReport { status, reason, result, agent_id, usage, is_typed };
        let shown = Some(self.shown.ended(&report));
        let answer = if questions.is_some() { Err(ToolError::waits()) } else { Ok(Answered::Report(report)) };
        // The tool may have ended meanwhile.
        drop(self.reply.send(answer));
        Ended { shown, questions }
    }
}
