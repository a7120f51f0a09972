//! The journal of a run in memory: what is not written yet, and what is not shown yet.

use bytes::Bytes;
use omniassist_core::event::{FinishReason, Usage};
use omniassist_core::journal::{Content, Record, SegmentWriter, of_run};
use omniassist_core::message::{Message, MessageCollector};
use omniassist_core::{RunEvent, Text};
use serde_json::Map;

use super::usage_sum::UsageSum;
use crate::engine::stores::journal::Position;
use crate::engine::stores::left_open::settle_stopped;
use crate::store::{Segment, SegmentKind, Writer};

/// Writes the events of a run to segments, and collects its message.
pub(in crate::engine::stored) struct Recorder {
    segment: SegmentWriter,
    /// The number of events that were taken, those of the journal included.
    events: u64,
    /// Events that can be shown.
    pub(in crate::engine::stored) shown: Vec<RunEvent>,
    /// Events that are shown after the next commit: a consequence, and those after it.
    held: Vec<RunEvent>,
    message: MessageCollector,
    /// The calls whose tools have started.
    begun: Vec<Text>,
    /// The usage of the run so far.
    usage: UsageSum,
    /// The event that ended the run.
    terminal: Option<RunEvent>,
}

impl Recorder {
    /// Creates a recorder whose journal has this many events, for a message as it is before the leg.
    pub(in crate::engine::stored) fn new(events: u64, message: Message) -> Self {
        Self {
            segment: SegmentWriter::new(),
            events,
            shown: Vec::new(),
            held: Vec::new(),
            message: MessageCollector::continuing(message),
            begun: Vec::new(),
            usage: UsageSum::default(),
            terminal: None,
        }
    }

    /// Sets the usage of the run before the leg. Default: none.
    pub(in crate::engine::stored) fn after(self, before: Usage) -> Self {
        Self { usage: before.into(), ..self }
    }

    /// Applies a record that the journal has.
    pub(in crate::engine::stored) fn replay(&mut self, content: &Content) {
        self.usage.take(content);
        match content {
            Content::Event(event) => self.message.apply(event),
            Content::Deltas(deltas) => self.message.apply(&deltas.merged()),
            _ => {}
        }
    }

    pub(in crate::engine::stored) fn take(&mut self, event: RunEvent, is_consequence: bool) {
        self.usage.take_event(&event);
        self.message.apply(&event);
        self.take_unread(event, is_consequence);
    }

    /// Takes an event of a run whose message nobody reads.
    pub(in crate::engine::stored) fn take_unread(&mut self, event: RunEvent, is_consequence: bool) {
        if let Err(error) = self.segment.event(&event) {
            tracing::error!(%error, "an event is not in the journal");
        }
        self.events += 1;
        if event.is_terminal() {
            self.terminal = Some(event.clone());
        }
        if is_consequence || !self.held.is_empty() {
            self.held.push(event);
        } else {
            self.shown.push(event);
        }
    }

    pub(in crate::engine::stored) fn take_records(&mut self, records: &[Record]) {
        for content in of_run(records) {
            self.usage.take(content);
        }
        for record in records {
            if let (Content::Begun(calls), None) = (&record.content, record.head.agent()) {
                self.begun.extend(calls.iter().cloned());
            }
            if let Err(error) = self.segment.record(record) {
                tracing::error!(%error, "a record is not in the journal");
            }
        }
    }

    /// Returns `true` if there is something to write.
    pub(in crate::engine::stored) fn is_dirty(&self) -> bool {
        !self.segment.is_empty()
    }

    /// Returns `true` if events wait for a commit.
    pub(super) fn holds_events(&self) -> bool {
        !self.held.is_empty()
    }

    pub(in crate::engine::stored) fn terminal(&self) -> Option<&RunEvent> {
        self.terminal.as_ref()
    }

    /// Returns the usage of the run so far.
    pub(in crate::engine::stored) fn usage(&self) -> Usage {
        self.usage.usage()
    }

    /// Returns the message, with the reason for an answer that is cut. If the run was stopped or has failed, no call in it
    /// waits for its result.
    pub(in crate::engine::stored) fn message(&self) -> Message {
        let mut message = self.message.clone();
        if let Some(RunEvent::Finish { reason, .. }) = &self.terminal {
            if let Some(reason) = cut_by(reason) {
                let reason = Map::from_iter([("finishReason".to_owned(), reason.into())]);
                message.apply(&RunEvent::Metadata(reason));
            }
            return message.into_message();
        }
        let mut message = message.into_message();
        settle_stopped(&mut message, &self.begun);
        message
    }

    /// Completes the segment at this position, and returns it with the position after it. The segment of a leg that wrote
    /// nothing is empty.
    pub(in crate::engine::stored) fn segment(
        &mut self,
        writer: Writer,
        at: Position,
        kind: SegmentKind,
    ) -> (Segment, Position) {
        let data = self.segment.take().map_or_else(Bytes::new, |segment| segment.bytes);
        let next = Position { segments: at.segments + 1, events: self.events };
        let events = u32::try_from(self.events).unwrap_or(u32::MAX);
        (Segment::new(writer, next.segments, kind, events, data), next)
    }

    /// Shows the held events, whose commit is complete.
    pub(in crate::engine::stored) fn release(&mut self) {
        self.shown.append(&mut self.held);
    }
}

/// Returns the reason for an answer without text, or without the rest of it, as the AI SDK calls it.
fn cut_by(reason: &FinishReason) -> Option<&'static str> {
    match reason {
        FinishReason::Length => Some("length"),
        FinishReason::ContentFilter | FinishReason::Refusal => Some("content-filter"),
        _ => None,
    }
}
