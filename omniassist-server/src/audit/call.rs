use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::transcript::ToolCall;
use omniassist_core::{JsonText, Text};
use tokio::time::Instant;

use super::{AuditAction, AuditLog, AuditedCall, Ticket};
use crate::sync::lock;
use crate::{Principal, RunContext};

/// The outcome of a call of which nobody knows if it took effect.
const UNKNOWN: &str = "unknown";

/// The records of one call of a server tool. A clone is another handle to the same call.
#[derive(Debug, Clone)]
pub(crate) struct CallAudit {
    log: AuditLog,
    run: RunContext,
    approved_by: Option<Principal>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    call: AuditedCall,
    started: Option<Instant>,
    /// `true` if the call started, or was answered in place of its tool.
    is_decided: bool,
    /// `true` if the call has its outcome. Its tool must no longer start.
    is_over: bool,
}

impl CallAudit {
    pub(super) fn new(
        log: &AuditLog,
        run: &RunContext,
        call: &ToolCall,
        approved_by: Option<Principal>,
    ) -> Self {
        Self::of(log, run, log.call(&call.id, &call.name, &call.arguments), approved_by)
    }

    fn of(log: &AuditLog, run: &RunContext, call: AuditedCall, approved_by: Option<Principal>) -> Self {
        let state = State { call, started: None, is_decided: false, is_over: false };
        Self { log: log.clone(), run: run.clone(), approved_by, state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the records of a call that the tool of this call makes.
    pub(crate) fn within(&self, id: &Text, tool: &Text, arguments: &JsonText) -> Self {
        Self::of(&self.log, &self.run, self.log.call(id, tool, arguments), None)
    }

    /// Records that the tool starts. Returns the record to wait for, or `None` if the call is over.
    pub(crate) fn start(&self) -> Option<Ticket> {
        let mut state = lock(&self.state);
        if state.is_over {
            return None;
        }
        state.is_decided = true;
        state.started = Some(Instant::now());
        let (call, approved_by) = (state.call.clone(), self.approved_by.clone());
        Some(self.log.push_for(&self.run, AuditAction::CallStarted { call, approved_by }))
    }

    /// Records that the tool starts with these arguments, as [`start`](Self::start) does.
    pub(crate) fn start_with(&self, id: &Text, tool: &Text, arguments: &JsonText) -> Option<Ticket> {
        lock(&self.state).call = self.log.call(id, tool, arguments);
        self.start()
    }

    /// Records that the host answers the call in place of its tool.
    pub(crate) fn answer(&self) {
        let mut state = lock(&self.state);
        if !state.is_over {
            state.is_decided = true;
            self.log.push_for(&self.run, AuditAction::CallAnswered { call: state.call.clone() });
        }
    }

    /// Records that the call ended, with the kind of its error if it failed. A call that did not start has no such record.
    pub(crate) fn end(&self, error: Option<&'static str>) {
        let mut state = lock(&self.state);
        state.is_over = true;
        let Some(started) = state.started else { return };
        let (outcome, duration) = (error.unwrap_or("ok"), started.elapsed());
        let call = state.call.clone();
        self.log.push_for(&self.run, AuditAction::CallEnded { call, outcome, duration });
    }

    /// Records that nobody knows if the call took effect, because the server that ran it stopped.
    pub(crate) fn unknown(&self) {
        let mut state = lock(&self.state);
        (state.is_decided, state.is_over) = (true, true);
        let (call, outcome, duration) = (state.call.clone(), UNKNOWN, Duration::ZERO);
        self.log.push_for(&self.run, AuditAction::CallEnded { call, outcome, duration });
    }

    /// Returns the call as it is recorded.
    pub(super) fn call(&self) -> AuditedCall {
        lock(&self.state).call.clone()
    }

    /// Returns `true` if the error of the call is not its refusal.
    pub(super) fn is_decided(&self) -> bool {
        lock(&self.state).is_decided
    }
}
