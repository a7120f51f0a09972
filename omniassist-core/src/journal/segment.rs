use bytes::Bytes;

use super::JournalError;

/// The version of the format.
const VERSION: u8 = 1;

/// A segment of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The bytes to store.
    pub bytes: Bytes,
    /// The number of events in it, each delta counted.
    pub events: u64,
}

impl Segment {
    /// Returns a segment of these records, which begin with [`begin`].
    pub(super) fn of(mut records: Vec<u8>, events: u64) -> Self {
        let checksum = crc32fast::hash(&records);
        records.extend_from_slice(&checksum.to_le_bytes());
        Self { bytes: records.into(), events }
    }
}

/// Begins a segment.
pub(super) fn begin(out: &mut Vec<u8>) {
    if out.is_empty() {
        out.push(VERSION);
    }
}

/// Returns the records of a segment.
pub(super) fn records(segment: &[u8]) -> Result<&[u8], JournalError> {
    match segment.first() {
        Some(&VERSION) => {}
        Some(version) => return Err(JournalError::version(*version)),
        None => return Err(JournalError::corrupt("it is empty")),
    }
    let cut = || JournalError::corrupt("it is cut off");
    let (records, checksum) = segment.split_last_chunk::<4>().ok_or_else(cut)?;
    if crc32fast::hash(records) != u32::from_le_bytes(*checksum) {
        return Err(JournalError::corrupt("its checksum is wrong"));
    }
    records.get(1..).ok_or_else(cut)
}
