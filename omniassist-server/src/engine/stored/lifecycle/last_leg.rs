//! The last leg of a stored run, and the message that it continues.

use std::mem;

use omniassist_core::Text;
use omniassist_core::event::Usage;
use omniassist_core::journal::{Content, Record, of_run};
use omniassist_core::message::{Message, MessageCollector};

use crate::Cost;
use crate::engine::run::UsedBefore;
use crate::engine::stored::chat::usage_of;
use crate::engine::stored::execution::UsageSum;
use crate::engine::stored::posts::{Input, latest_input};
use crate::engine::stores::answers::{Answer, answers_of, apply_answers};
use crate::engine::stores::journal::{self, Position};
use crate::engine::tree::{AgentRecords, WaitingAgents};
use crate::store::{Claimed, RunStore, StoreError};

/// The last leg of a run: the part of its journal after the last time that it waited.
pub(super) struct LastLeg {
    /// The input of the run, with what the latest post with answers brought.
    pub(in crate::engine::stored) input: Input,
    /// The position before the leg.
    pub(in crate::engine::stored) from: Position,
    /// The end of the journal.
    pub(in crate::engine::stored) at: Position,
    /// The records of the leg. Empty if the run still waits, or has waited until now.
    pub(in crate::engine::stored) records: Vec<Record>,
    /// The message that the leg continues, as it was before the leg, with the answers. `None` if the leg begins it.
    ///
    /// It is built from the journal. A store of conversations that is not the store of runs may have the text of the leg
    /// already: its save precedes the end of the leg, and the server may have stopped in between.
    pub(in crate::engine::stored) earlier: Option<Message>,
    /// The agents that waited for the user before the leg.
    pub(in crate::engine::stored) waiting: WaitingAgents,
    /// The usage of the run before the leg.
    usage: Usage,
}

impl LastLeg {
    /// Reads the last leg of a claimed run.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal or the input of the run cannot be read, or is gone.
    pub(in crate::engine::stored) async fn read(
        runs: &dyn RunStore,
        claimed: &Claimed,
    ) -> Result<Self, StoreError> {
        let mut input = Input::from_bytes(&claimed.input)?;
        if let Some(post) = latest_input(&claimed.signals)? {
            input = input.answered_by(post);
        }
        let answers = answers_of(&claimed.signals)?;
        let earlier = input.continued()?;
        let start = Position::default();
        let mut leg = Self {
            input,
            from: start,
            at: start,
            records: Vec::new(),
            earlier,
            waiting: WaitingAgents::new(),
            usage: usage_of(&claimed.head),
        };
        let head = &claimed.head;
        journal::for_each_segment(runs, &head.scope, head.run, start, |_, records, at| {
            leg.records.extend(records);
            leg.at = at;
            // The end of a leg is the last event of its segment.
            let last = of_run(&leg.records).rev().find_map(|content| match content {
                Content::Event(event) => Some(event.is_terminal()),
                Content::Deltas(_) => Some(false),
                _ => None,
            });
            if last == Some(true) {
                leg.end(&answers);
            }
        })
        .await?;
        Ok(leg)
    }

    /// Returns `true` if the run has not waited yet.
    pub(super) fn is_first(&self) -> bool {
        self.from == Position::default()
    }

    /// Returns the use of the run before the leg.
    pub(super) fn used_before(&self) -> UsedBefore {
        let metadata = self.earlier.as_ref().and_then(|earlier| earlier.metadata.as_ref());
        let cost = || metadata?.get("cost")?.as_str().and_then(Cost::parse);
        UsedBefore { usage: self.usage, cost: if self.is_first() { Some(Cost::default()) } else { cost() } }
    }

    /// Returns the usage of the run up to the last model call that is complete.
    pub(super) fn usage_so_far(&self) -> Usage {
        let mut sum = UsageSum::from(self.usage);
        of_run(&self.records).for_each(|content| sum.take(content));
        sum.usage()
    }

    /// Returns a collector of the message, with the records of the leg.
    pub(super) fn collector(&self) -> MessageCollector {
        let earlier = self.earlier.clone();
        let mut collector = earlier.map_or_else(MessageCollector::new, MessageCollector::continuing);
        for content in of_run(&self.records) {
            match content {
                Content::Event(event) => collector.apply(event),
                Content::Deltas(deltas) => collector.apply(&deltas.merged()),
                _ => {}
            }
        }
        collector
    }

    fn end(&mut self, answers: &[(Text, Answer)]) {
        let mut message = self.collector().into_message();
        apply_answers(&mut message, answers);
        let agents = AgentRecords::split(mem::take(&mut self.records)).1.after(mem::take(&mut self.waiting));
        self.waiting = agents.into_waiting(&message.id);
        self.earlier = Some(message);
        self.from = self.at;
    }
}
