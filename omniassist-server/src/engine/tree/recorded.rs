use omniassist_core::event::AgentStatus;
use omniassist_core::journal::{Head, Record, RecordBuffer};
use omniassist_core::{RunEvent, Text};

/// The events of an agent, until they are records of the journal.
///
/// A turn that did not end is asked for again, so that its text need not be written before its end.
pub(super) struct Recorded {
    head: Head,
    events: RecordBuffer,
    is_due: bool,
}

impl Recorded {
    /// Creates the records of an agent, or of the call that a tool makes in the name of another one.
    pub(super) fn new(agent_id: &Text, asked_by: Option<&Text>) -> Self {
        let mut head = Head::default().with(Head::AGENT, agent_id.clone().into_bytes());
        if let Some(asked_by) = asked_by {
            head = head.with(Head::ASKED_BY, asked_by.clone().into_bytes());
        }
        Self { head, events: RecordBuffer::new(), is_due: false }
    }

    /// Returns `true` if the journal needs the events now: they have the result of a tool.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Takes an event of the agent.
    pub(super) fn event(&mut self, event: &RunEvent) {
        match event {
            // Other events repeat them, or the agent's run does not need them.
            RunEvent::ToolInputStart { .. }
            | RunEvent::ToolInputDelta { .. }
            | RunEvent::ToolOutput { preliminary: true, .. }
            | RunEvent::Data { .. }
            | RunEvent::ActivitySnapshot { .. }
            | RunEvent::StateDelta(_)
            | RunEvent::AgentDelta { .. } => return,
            RunEvent::AgentState(state) if state.status == AgentStatus::Running => return,
            // The output of a provider's tool is a part of the turn.
            RunEvent::ToolOutput { provider_executed: false, .. }
            | RunEvent::ToolError { provider_executed: false, .. } => self.is_due = true,
            _ => {}
        }
        self.events.event(event);
    }

    /// Keeps an event that the client is not shown.
    pub(super) fn keep(&mut self, event: &RunEvent) {
        self.events.event(event);
    }

    /// Appends the events as records, and then those of the agent's run and of the agents below it.
    pub(super) fn take(&mut self, records: Vec<Record>, out: &mut Vec<Record>) {
        self.is_due = false;
        out.append(&mut self.events.take(&self.head));
        out.extend(records.into_iter().map(|record| match record.head.agent() {
            None => Record { head: self.head.clone(), content: record.content },
            Some(_) => record,
        }));
    }
}
