use std::collections::HashMap;

use omniassist_core::transcript::ToolCall;
use omniassist_core::{JsonText, RunEvent, Text};

use super::{AuditAction, AuditLog, AuditedCall, CallAudit, Delegate, Ticket};
use crate::observe::RunReport;
use crate::{Principal, RunContext};

/// The records of one run.
pub(crate) struct RunAudit {
    log: AuditLog,
    run: RunContext,
    /// The tool and the arguments of the calls that the run made.
    calls: HashMap<Text, (Text, JsonText)>,
    /// The calls of server tools that may run.
    due: HashMap<Text, CallAudit>,
}

impl RunAudit {
    /// Records that a run begins.
    pub(crate) fn begin(log: AuditLog, run: &RunContext) -> (Self, Ticket) {
        let audit = Self::within_call(log, run);
        let ticket = audit.push(AuditAction::RunStarted);
        (audit, ticket)
    }

    /// Creates the records of a call that a tool makes in the name of another one.
    pub(crate) fn within_call(log: AuditLog, run: &RunContext) -> Self {
        Self { log, run: run.clone(), calls: HashMap::new(), due: HashMap::new() }
    }

    /// Records the decision that an event reports. `is_of_client` returns `true` for the names of front-end tools.
    pub(crate) fn take(&mut self, event: &RunEvent, is_of_client: impl FnOnce(&str) -> bool) {
        match event {
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, .. } => {
                let to = match *provider_executed {
                    true => Some(Delegate::Provider),
                    false => is_of_client(name).then_some(Delegate::Client),
                };
                if let Some(to) = to {
                    self.push(AuditAction::CallDelegated { call: self.log.call(call_id, name, input), to });
                }
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
            // A call that a hook refused, or that was approved and must not run now.
            RunEvent::ToolError { call_id, error_text, provider_executed: false }
                if !self.due.get(call_id).is_some_and(CallAudit::is_decided) =>
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

    /// Returns the records of a call whose tool may start.
    pub(crate) fn call_due(&mut self, call: &ToolCall) -> CallAudit {
        let approved_by = self.run.is_approved(&call.id).then(|| self.run.principal().clone());
        let audit = CallAudit::new(&self.log, &self.run, call, approved_by);
        self.due.insert(call.id.clone(), audit.clone());
        audit
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
        self.log.push_for(&self.run, action)
    }

    /// Returns a call of this run, or of the message that it continues.
    fn call(&self, call_id: &Text) -> AuditedCall {
        if let Some((name, input)) = self.calls.get(call_id) {
            return self.log.call(call_id, name, input);
        }
        // A run that was recovered made the call before.
        if let Some(due) = self.due.get(call_id) {
            return due.call();
        }
        let posted = self.run.messages().last();
        let tool =
            posted.into_iter().flat_map(|message| message.tools()).find(|tool| tool.call_id == *call_id);
        let name = tool.map(|tool| tool.name.clone()).unwrap_or_default();
        let input = tool.and_then(|tool| tool.state.input());
        self.log.call(call_id, &name, input.unwrap_or(&JsonText::EMPTY_OBJECT))
    }
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
