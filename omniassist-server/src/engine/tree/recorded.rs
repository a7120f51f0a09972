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
    pub(super) fn new(agent_id: &Text) -> Self {
        let head = Head::default().with(Head::AGENT, agent_id.clone().into_bytes());
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
            | RunEvent::AgentDelta { .. } => return,
            RunEvent::AgentState(state) if state.status == AgentStatus::Running => return,
            RunEvent::ToolOutput { .. } | RunEvent::ToolError { .. } => self.is_due = true,
            _ => {}
        }
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
