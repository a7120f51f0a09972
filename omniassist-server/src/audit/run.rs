use std::collections::{HashMap, HashSet};

use omniassist_core::message::ToolState;
use omniassist_core::transcript::ToolCall;
use omniassist_core::{JsonText, RunEvent, Text};
use tokio::time::Instant;

use super::{AuditAction, AuditLog, AuditedCall, Ticket};
use crate::observe::RunReport;
use crate::{Principal, RunContext};

/// The records of one run.
pub(crate) struct RunAudit {
    log: AuditLog,
    run: RunContext,
    /// The tool and the arguments of the calls that the run made.
    calls: HashMap<Text, (Text, JsonText)>,
    started: HashSet<Text>,
}

/// The records of one call that starts.
#[derive(Debug, Clone)]
pub(crate) struct CallAudit {
    log: AuditLog,
    run: RunContext,
    call: AuditedCall,
    ticket: Ticket,
    started: Instant,
}

impl RunAudit {
    /// Records that a run begins.
    pub(crate) fn begin(log: AuditLog, run: &RunContext) -> (Self, Ticket) {
        let audit = Self { log, run: run.clone(), calls: HashMap::new(), started: HashSet::new() };
        let ticket = audit.push(AuditAction::RunStarted);
        (audit, ticket)
    }

    /// Records the decision that an event reports.
    pub(crate) fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. } => {
                self.calls.insert(call_id.clone(), (name.clone(), input.clone()));
            }
            RunEvent::ToolInputError { call_id, name, input, error_text, .. } => {
                let call = self.log.call(call_id, name, input);
                self.push(AuditAction::CallRefused { call, reason: error_text.clone() });
            }
            RunEvent::ToolRefused { call_id, reason } => {
                let call = self.call(call_id);
                self.push(AuditAction::CallRefused { call, reason: reason.clone() });
            }
            // A call that was approved, and must not run now.
            RunEvent::ToolError { call_id, error_text, provider_executed: false }
                if !self.started.contains(call_id) =>
            {
                let call = self.call(call_id);
                self.push(AuditAction::CallRefused { call, reason: error_text.clone() });
            }
            RunEvent::ToolApprovalRequest(request) => {
                let call = self.log.call(&request.call_id, &request.name, &request.input);
                self.push(AuditAction::ApprovalRequested { call });
            }
            RunEvent::ToolDenied { call_id, .. } => {
                let call = self.call(call_id);
                self.push(AuditAction::CallDenied { call });
            }
            _ => {}
        }
    }

    /// Records that a server tool starts.
    pub(crate) fn start_call(&mut self, call: &ToolCall) -> CallAudit {
        self.started.insert(call.id.clone());
        let call = self.log.call(&call.id, &call.name, &call.arguments);
        let approved_by = self.is_approved(&call.call_id).then(|| self.run.principal().clone());
        let ticket = self.push(AuditAction::CallStarted { call: call.clone(), approved_by });
        let (log, run) = (self.log.clone(), self.run.clone());
        CallAudit { log, run, call, ticket, started: Instant::now() }
    }

    /// Records that the run ended.
    pub(crate) fn end(self, report: &RunReport) {
        self.push(AuditAction::RunEnded {
            outcome: report.outcome.clone(),
            duration: report.duration,
            usage: report.usage,
            cost: report.cost,
        });
    }

    fn push(&self, action: AuditAction) -> Ticket {
        push(&self.log, &self.run, action)
    }

    /// Returns a call of this run, or of the message that it continues.
    fn call(&self, call_id: &Text) -> AuditedCall {
        if let Some((name, input)) = self.calls.get(call_id) {
            return self.log.call(call_id, name, input);
        }
        let posted = self.run.messages().last();
        let tool =
            posted.into_iter().flat_map(|message| message.tools()).find(|tool| tool.call_id == *call_id);
        let name = tool.map(|tool| tool.name.clone()).unwrap_or_default();
        let input = tool.and_then(|tool| tool.state.input());
        self.log.call(call_id, &name, input.unwrap_or(&JsonText::EMPTY_OBJECT))
    }

    /// Returns `true` if the posted message approves the call.
    fn is_approved(&self, call_id: &Text) -> bool {
        let posted = self.run.messages().last();
        posted.into_iter().flat_map(|message| message.tools()).any(|tool| match &tool.state {
            ToolState::ApprovalResponded { approval, .. } => {
                tool.call_id == *call_id && approval.is_approved()
            }
            _ => false,
        })
    }
}

impl CallAudit {
    /// Waits until the tool may run.
    pub(crate) fn accepted(&self) -> impl Future<Output = ()> + Send + 'static {
        self.ticket.clone().accepted()
    }

    /// Records that the call ended, with the kind of its error if it failed.
    pub(crate) fn ended(&self, error: Option<&'static str>) {
        let (outcome, duration) = (error.unwrap_or("ok"), self.started.elapsed());
        push(&self.log, &self.run, AuditAction::CallEnded { call: self.call.clone(), outcome, duration });
    }
}

fn push(log: &AuditLog, run: &RunContext, action: AuditAction) -> Ticket {
    log.push(run.principal(), run.chat_id(), Some(run.run_id()), action)
}

/// Records that a client's run was refused.
pub(crate) fn refused(
    log: &AuditLog,
    principal: &Principal,
    chat_id: Option<&Text>,
    refusal: &omniassist_core::Error,
) -> Ticket {
    log.push(principal, chat_id, None, AuditAction::RunRefused { code: refusal.code().as_str() })
}
