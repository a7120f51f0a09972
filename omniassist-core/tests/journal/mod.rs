//! The log of a run.

mod format;
mod golden;
mod kept_answers;
mod recovery;
mod replay;
mod unknown_outcome;

use bytes::Bytes;
use omniassist_core::RunEvent;
use omniassist_core::journal::{self, Record, SegmentWriter};

/// Returns the segment of these events.
fn segment(events: &[RunEvent]) -> Bytes {
    let mut writer = SegmentWriter::new();
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.take().unwrap().bytes
}

fn records<'a>(segments: impl IntoIterator<Item = &'a Bytes>) -> Vec<Record> {
    segments.into_iter().flat_map(|segment| journal::read(segment).unwrap()).collect()
}
