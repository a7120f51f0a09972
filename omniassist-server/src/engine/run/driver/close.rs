//! The end of a run: what it holds is released, and its last events are completed.

use omniassist_core::history::TokenRate;
use omniassist_core::{RunEvent, Usage};
use serde_json::Value;

use super::{Driver, Stage};

impl Driver {
    /// Releases everything once the terminal event is written.
    pub(super) fn settle(&mut self) {
        let Stage::Running(machine) = &self.stage else { return };
        if machine.is_done() {
            let rate = machine.token_rate();
            self.stage = Stage::Done;
            self.model = None;
            self.stepping = None;
            self.handoffs = None;
            self.meter = None;
            self.end_gate();
            self.queued.clear();
            self.running.clear();
            let ended = self.end_agents(None);
            self.close(rate, ended);
        }
    }

    /// Ends the trace, and inserts data and metadata before the terminal event.
    fn close(&mut self, rate: Option<TokenRate>, ended: Vec<RunEvent>) {
        let mut events: Vec<_> = self.events.drain().collect();
        let end = events.len().saturating_sub(1);
        events.splice(end..end, ended);
        if self.run.has_sent_data() {
            let end = events.len().saturating_sub(1);
            events.splice(end..end, std::iter::from_fn(|| self.queue.pop()));
        }
        let before = self.gate.as_ref().map(|gate| gate.before).unwrap_or_default();
        if let Some(RunEvent::Finish { usage, .. }) = events.last_mut() {
            usage.add(&before.usage);
            usage.add(&self.usage_beside_turns());
        }
        if let (Some(RunEvent::Error { message, .. }), Some(refusal)) = (events.last_mut(), &self.refusal) {
            message.clone_from(refusal.message());
        }
        if let Some(terminal) = events.last() {
            self.trace.end(terminal, self.setup.config.prices.as_ref());
            if let RunEvent::Finish { .. } = terminal {
                let cost = self.trace.cost().zip(before.cost).map(|(of_leg, before)| before + of_leg);
                let mut metadata = self.metadata.to_map(self.setup.config.reports, cost);
                // The message that the run continues may have the cost of what came before.
                if (before.cost.is_none() || self.trace.lacks_cost()) && self.had_cost() {
                    metadata.insert("cost".to_owned(), Value::Null);
                }
                self.carry(rate, &mut metadata);
                if !metadata.is_empty() {
                    events.insert(events.len() - 1, RunEvent::Metadata(metadata));
                }
            }
        }
        self.events.extend(events);
    }

    /// Returns the usage of the run that is not in its own turns.
    pub(in crate::engine) fn usage_beside_turns(&self) -> Usage {
        let mut usage = self.trace.beside_turns();
        usage.add(&self.summary_usage);
        usage
    }

    /// Returns `true` if the message that the run continues has a cost.
    fn had_cost(&self) -> bool {
        let metadata = self.run.messages().last().and_then(|last| last.metadata.as_ref());
        metadata.and_then(|metadata| metadata.get("cost")).is_some_and(Value::is_string)
    }
}
