//! Values of rows.

use std::time::SystemTime;

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::store::{
    InstanceId, Notice, Received, RunId, RunState, Segment, SegmentKind, Signal, SignalKind, Writer,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::failure::Failure;
use crate::{text, time};

pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Failure> {
    row.try_get(column).map_err(Failure::Value)
}

pub(crate) fn text(row: &Row, column: usize) -> Result<Text, Failure> {
    Ok(text::loaded(get(row, column)?))
}

pub(crate) fn some_text(row: &Row, column: usize) -> Result<Option<Text>, Failure> {
    Ok(get::<Option<&str>>(row, column)?.map(text::loaded))
}

pub(crate) fn bytes(row: &Row, column: usize) -> Result<Bytes, Failure> {
    Ok(Bytes::copy_from_slice(get(row, column)?))
}

pub(crate) fn some_bytes(row: &Row, column: usize) -> Result<Option<Bytes>, Failure> {
    Ok(get::<Option<&[u8]>>(row, column)?.map(Bytes::copy_from_slice))
}

pub(crate) fn run(row: &Row, column: usize) -> Result<RunId, Failure> {
    Ok(RunId::from_bytes(get::<Uuid>(row, column)?.into_bytes()))
}

pub(crate) fn instance(row: &Row, column: usize) -> Result<InstanceId, Failure> {
    Ok(InstanceId::from_bytes(get::<Uuid>(row, column)?.into_bytes()))
}

pub(crate) fn some_instance(row: &Row, column: usize) -> Result<Option<InstanceId>, Failure> {
    Ok(get::<Option<Uuid>>(row, column)?.map(|id| InstanceId::from_bytes(id.into_bytes())))
}

pub(crate) fn int(row: &Row, column: usize) -> Result<u32, Failure> {
    u32::try_from(get::<i32>(row, column)?).map_err(|_negative| Failure::Corrupt("a number is negative"))
}

pub(crate) fn bigint(row: &Row, column: usize) -> Result<u64, Failure> {
    u64::try_from(get::<i64>(row, column)?).map_err(|_negative| Failure::Corrupt("a number is negative"))
}

pub(crate) fn state(row: &Row, column: usize) -> Result<RunState, Failure> {
    let number = u8::try_from(get::<i16>(row, column)?).ok();
    number.and_then(RunState::from_number).ok_or(Failure::Corrupt("a run has an unknown state"))
}

pub(crate) fn time(row: &Row, column: usize) -> Result<u64, Failure> {
    get::<SystemTime>(row, column).map(time::loaded)
}

pub(crate) fn some_time(row: &Row, column: usize) -> Result<Option<u64>, Failure> {
    Ok(get::<Option<SystemTime>>(row, column)?.map(time::loaded))
}

/// Reads the columns `stop, signals, watched`, of which this is the first.
pub(crate) fn notice(row: &Row, first: usize) -> Result<Notice, Failure> {
    let mut notice = Notice::default();
    notice.stop = get(row, first)?;
    notice.signals = int(row, first + 1)?;
    notice.watched = get(row, first + 2)?;
    Ok(notice)
}

/// Reads a segment from the columns `pos, epoch, writer, kind, events, data`, of which this is the first.
pub(crate) fn segment(run: RunId, row: &Row, first: usize) -> Result<Segment, Failure> {
    let instance = instance(row, first + 2)?;
    let number = u8::try_from(get::<i16>(row, first + 3)?).ok();
    let kind =
        number.and_then(SegmentKind::from_number).ok_or(Failure::Corrupt("a segment has an unknown kind"))?;
    let writer = Writer { run, epoch: int(row, first + 1)?, instance };
    Ok(Segment::new(writer, int(row, first)?, kind, int(row, first + 4)?, bytes(row, first + 5)?))
}

/// Reads a signal from the columns `key, number, data, sender, received_at`, of which this is the first. `None`: it is of a
/// later version.
pub(crate) fn received(run: RunId, row: &Row, first: usize) -> Result<Option<Received>, Failure> {
    let Some(kind) = SignalKind::from_key(&text(row, first)?) else { return Ok(None) };
    let mut signal = Signal::new(kind, text(row, first + 3)?);
    signal.data = bytes(row, first + 2)?;
    Ok(Some(Received::new(run, int(row, first + 1)?, signal, time(row, first + 4)?)))
}
