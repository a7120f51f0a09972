//! Segments of a journal. One that is read can be replayed, folded, and written again without a change.
#![no_main]

use bytes::Bytes;
use omniassist_core::journal::{self, Record, Replay, SegmentWriter};
use omniassist_core::run::{NoTools, RunConfig, RunMachine};
use omniassist_core::{EventBuf, RunRequest};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    // Arbitrary bytes, and the same bytes as the records of a segment with the right checksum.
    let _ = journal::read(&Bytes::copy_from_slice(input));
    let Ok(records) = omniassist_fuzz::bounded(input.len(), || journal::read(&sealed(input))) else { return };

    let events = journal::exact(&records);
    let merged = omniassist_fuzz::bounded(input.len(), || Replay::new().events(&records));
    assert!(merged.len() <= events.len() + records.len(), "a replay is longer than the run");
    let mut started = EventBuf::new();
    let machine = RunMachine::start(&RunRequest::prompt("Hello"), RunConfig::new("m"), &NoTools, &mut started);
    let _ = omniassist_fuzz::bounded(input.len(), || journal::fold(machine, records.clone()));

    let Some(bytes) = written(&records) else { return };
    let again = journal::read(&bytes).expect("a written segment is read");
    assert_eq!(journal::exact(&again), events, "the events differ");
    assert_eq!(written(&again), Some(bytes), "the bytes differ");
});

/// Returns a segment of these records.
fn sealed(records: &[u8]) -> Bytes {
    let mut bytes = [&[1], records].concat();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes.into()
}

/// Returns the records as a segment, or `None` if there are none.
fn written(records: &[Record]) -> Option<Bytes> {
    let mut writer = SegmentWriter::new();
    for record in records {
        writer.record(record).expect("a record that was read is written");
    }
    writer.take().map(|segment| segment.bytes)
}
