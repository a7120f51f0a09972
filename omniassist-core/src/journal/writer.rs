use std::fmt;

use super::segment::{Segment, begin};
use super::{DeltaOf, Head, JournalError, Record, record, varint};
use crate::RunEvent;

/// Writes the segments of one journal.
///
/// A delta is copied once, and a short one takes one byte more than its text. A call allocates only if a buffer grows.
#[derive(Default)]
pub struct SegmentWriter {
    /// The segment up to its last complete record.
    out: Vec<u8>,
    /// The owner of the deltas that are not part of `out` yet.
    of: Option<DeltaOf>,
    count: u64,
    lengths: Vec<u8>,
    text: Vec<u8>,
    /// The buffer for the body of one record.
    body: Vec<u8>,
    events: u64,
}

impl SegmentWriter {
    /// Creates a writer at the start of a segment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an event of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the event has no JSON form. The segment then lacks it.
    pub fn event(&mut self, event: &RunEvent) -> Result<(), JournalError> {
        match DeltaOf::event(event) {
            Some((of, delta)) => self.delta(of, delta),
            None => {
                self.complete();
                self.body.clear();
                record::write_event(event, &mut self.body)?;
                self.frame(&Head::default(), record::EVENT, record::is_required(event));
            }
        }
        self.events += 1;
        Ok(())
    }

    /// Appends a record. One that was read is written with the same bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the record has no JSON form. The segment then lacks it.
    pub fn record(&mut self, record: &Record) -> Result<(), JournalError> {
        self.complete();
        self.body.clear();
        record.content.write(&mut self.body)?;
        self.frame(&record.head, record.content.kind(), record.content.is_required());
        if record.head.agent().is_none() {
            self.events += record.content.events();
        }
        Ok(())
    }

    /// Returns the number of bytes that were written since the last segment, without the head of an incomplete record.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len() + self.lengths.len() + self.text.len()
    }

    /// Returns `true` if nothing was written since the last segment.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Completes the segment and returns it, or `None` if it is empty.
    pub fn take(&mut self) -> Option<Segment> {
        self.complete();
        if self.out.is_empty() {
            return None;
        }
        Some(Segment::of(std::mem::take(&mut self.out), std::mem::take(&mut self.events)))
    }

    fn delta(&mut self, of: DeltaOf, delta: &str) {
        if self.of.as_ref() != Some(&of) {
            self.complete();
            self.of = Some(of);
        }
        self.count += 1;
        varint::put(&mut self.lengths, delta.len() as u64);
        self.text.extend_from_slice(delta.as_bytes());
    }

    /// Completes the record of deltas.
    fn complete(&mut self) {
        let Some(of) = self.of.take() else { return };
        self.body.clear();
        of.write(&mut self.body);
        varint::put(&mut self.body, std::mem::take(&mut self.count));
        self.body.append(&mut self.lengths);
        self.body.append(&mut self.text);
        self.frame(&Head::default(), record::kind_of(&of), record::is_required_of(&of));
    }

    /// Appends a record with the body of the buffer.
    fn frame(&mut self, head: &Head, kind: u64, is_required: bool) {
        begin(&mut self.out);
        let mut fields = Vec::new();
        if !head.is_empty() {
            head.write(&mut fields);
        }
        let flags = (u64::from(is_required) << 1) | u64::from(!fields.is_empty());
        varint::put(&mut self.out, (kind << 2) | flags);
        varint::put(&mut self.out, (fields.len() + self.body.len()) as u64);
        self.out.extend_from_slice(&fields);
        self.out.extend_from_slice(&self.body);
    }
}

impl fmt::Debug for SegmentWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentWriter").field("events", &self.events).finish_non_exhaustive()
    }
}
