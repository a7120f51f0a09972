//! Values of rows.

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::store::{
    InstanceId, Received, RunId, RunState, Segment, SegmentKind, Signal, SignalKind, Writer,
};
use rusqlite::{Error, Result, Row};

use crate::time;

pub(crate) fn text(row: &Row<'_>, column: usize) -> Result<Text> {
    row.get::<_, String>(column).map(Text::from)
}

pub(crate) fn some_text(row: &Row<'_>, column: usize) -> Result<Option<Text>> {
    Ok(row.get::<_, Option<String>>(column)?.map(Text::from))
}

pub(crate) fn bytes(row: &Row<'_>, column: usize) -> Result<Bytes> {
    row.get::<_, Vec<u8>>(column).map(Bytes::from)
}

pub(crate) fn some_bytes(row: &Row<'_>, column: usize) -> Result<Option<Bytes>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.map(Bytes::from))
}

pub(crate) fn run(row: &Row<'_>, column: usize) -> Result<RunId> {
    row.get(column).map(RunId::from_bytes)
}

pub(crate) fn instance(row: &Row<'_>, column: usize) -> Result<Option<InstanceId>> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(InstanceId::from_bytes))
}

pub(crate) fn state(row: &Row<'_>, column: usize) -> Result<RunState> {
    let number: u8 = row.get(column)?;
    RunState::from_number(number).ok_or_else(|| Error::IntegralValueOutOfRange(column, number.into()))
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get(column).map(time::loaded)
}

/// Reads a segment from the columns `pos, epoch, writer, kind, events, data`.
pub(crate) fn segment(run: RunId, row: &Row<'_>) -> Result<Segment> {
    let instance = InstanceId::from_bytes(row.get(2)?);
    let number: u8 = row.get(3)?;
    let kind =
        SegmentKind::from_number(number).ok_or_else(|| Error::IntegralValueOutOfRange(3, number.into()))?;
    let writer = Writer { run, epoch: row.get(1)?, instance };
    Ok(Segment::new(writer, row.get(0)?, kind, row.get(4)?, bytes(row, 5)?))
}

/// Reads a signal from the columns `key, number, data, sender, received_at`, of which this is the first. `None`: it is of a
/// later version.
pub(crate) fn received(run: RunId, row: &Row<'_>, first: usize) -> Result<Option<Received>> {
    let Some(kind) = SignalKind::from_key(&row.get::<_, String>(first)?) else { return Ok(None) };
    let mut signal = Signal::new(kind, text(row, first + 3)?);
    signal.data = bytes(row, first + 2)?;
    Ok(Some(Received::new(run, row.get(first + 1)?, signal, time(row, first + 4)?)))
}
