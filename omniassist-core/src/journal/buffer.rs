use super::{Content, DeltaOf, Deltas, Head, Record};
use crate::RunEvent;

/// Events of an agent that are written to the journal later, as [records of this agent](Head::AGENT).
///
/// Successive deltas of one block are one record with one delta, since nobody is shown these records.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    contents: Vec<Content>,
    open: Option<(DeltaOf, String)>,
}

impl RecordBuffer {
    /// Creates an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an event.
    pub fn event(&mut self, event: &RunEvent) {
        let Some((of, delta)) = DeltaOf::event(event) else {
            self.complete();
            return self.contents.push(Content::Event(event.clone()));
        };
        match &mut self.open {
            Some((open, text)) if *open == of => text.push_str(delta),
            _ => {
                self.complete();
                self.open = Some((of, delta.to_string()));
            }
        }
    }

    /// Removes and returns the events as records with this head.
    pub fn take(&mut self, head: &Head) -> Vec<Record> {
        self.complete();
        let contents = self.contents.drain(..);
        contents.map(|content| Record { head: head.clone(), content }).collect()
    }

    fn complete(&mut self) {
        if let Some((of, text)) = self.open.take() {
            self.contents.push(Content::Deltas(Deltas::one(of, text.into())));
        }
    }
}
