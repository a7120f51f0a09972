use super::merge::Merge;
use super::{Content, Record, message_events};
use crate::RunEvent;
use crate::message::Message;

/// Returns the events of a run as they were shown, for a client that continues after the n-th chunk. Records of agents are left
/// out: what they show is among the events of the run.
#[must_use]
pub fn exact(records: &[Record]) -> Vec<RunEvent> {
    let mut events = Vec::new();
    for content in of_run(records) {
        match content {
            Content::Event(event) => events.push(event.clone()),
            Content::Deltas(deltas) => events.extend(deltas.chunks()),
            _ => {}
        }
    }
    events
}

/// The replay of a run for a client that has nothing of it, such as a page that was loaded again.
///
/// Each block has one delta, and what a [`StepReset`](RunEvent::StepReset) withdraws is left out. The events of the live
/// run continue it. The downside of one delta: a client cannot count chunks in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replay<'a> {
    earlier: Option<&'a Message>,
    quiet_calls: bool,
}

impl<'a> Replay<'a> {
    /// Creates a replay that begins with the run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the message that the run continues, as it was before the run. The replay begins with its parts: a client takes
    /// the first event of a replay as the start of the whole message. Default: none.
    #[must_use]
    pub fn continuing(mut self, message: &'a Message) -> Self {
        self.earlier = Some(message);
        self
    }

    /// Sets whether the complete calls of this run are written as calls that are still being written. A client does not execute
    /// those, so a page that has executed them already does not do so twice. Default: `false`.
    #[must_use]
    pub fn quiet_calls(mut self, quiet: bool) -> Self {
        self.quiet_calls = quiet;
        self
    }

    /// Returns the events. Records of agents are left out: what they show is among the events of the run. An agent that went on
    /// on another server is shown once.
    #[must_use]
    pub fn events(&self, records: &[Record]) -> Vec<RunEvent> {
        let earlier = self.earlier.map(message_events).unwrap_or_default();
        let mut merge = Merge::after(earlier, self.quiet_calls);
        for content in of_run(records) {
            match content {
                // The start of the whole message was written before its earlier parts.
                Content::Event(RunEvent::Start { metadata, .. }) if self.earlier.is_some() => {
                    metadata.iter().for_each(|metadata| merge.push(RunEvent::Metadata(metadata.clone())));
                }
                Content::Event(event) => merge.push(event.clone()),
                Content::Deltas(deltas) => merge.push(deltas.merged()),
                _ => {}
            }
        }
        merge.finish()
    }
}

/// Returns the contents of the records of the run itself, without those of [agents](super::Head::AGENT).
pub fn of_run(records: &[Record]) -> impl DoubleEndedIterator<Item = &Content> {
    records.iter().filter(|record| record.head.agent().is_none()).map(|record| &record.content)
}
