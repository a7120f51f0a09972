use bytes::Bytes;

use super::{Content, Head, JournalError, Record, segment, varint};

/// Reads the records of a segment. Their text shares its memory.
///
/// # Errors
///
/// Returns an error if the bytes are not those that a [`SegmentWriter`](super::SegmentWriter) has written, or if they
/// have a later version.
pub fn read(segment: &Bytes) -> Result<Vec<Record>, JournalError> {
    let mut rest = segment::records(segment)?;
    let mut records = Vec::new();
    while !rest.is_empty() {
        let record = record(segment, &mut rest);
        records.push(record.ok_or_else(|| JournalError::corrupt("a record is longer than the segment"))?);
    }
    Ok(records)
}

fn record(segment: &Bytes, rest: &mut &[u8]) -> Option<Record> {
    let tag = varint::take(rest)?;
    let mut content = varint::take_bytes(rest)?;
    let head = if tag & 1 == 1 { Head::read(segment, &mut content)? } else { Head::default() };
    let content = Content::read(tag >> 2, tag & 2 == 2, segment, content);
    Some(Record { head, content })
}
