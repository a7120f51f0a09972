//! Reading the journal of a stored run.

use omniassist_core::journal::{self, Content, Record, of_run};
use omniassist_core::{RunEvent, Text};

use crate::store::{RunId, RunStore, Scope, Segment, StoreError, TailOf};

/// The bytes of a journal that are read at once.
pub(in crate::engine) const PIECE: usize = 256 * 1024;

/// A position in a journal: the number of segments and events up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine) struct Position {
    pub(in crate::engine) segments: u32,
    pub(in crate::engine) events: u64,
}

impl Position {
    /// Returns the position after a segment.
    pub(in crate::engine) fn after(segment: &Segment) -> Self {
        Self { segments: segment.pos, events: u64::from(segment.events) }
    }
}

/// Returns the records of a segment.
///
/// # Errors
///
/// Returns an error if the segment cannot be read.
pub(in crate::engine) fn records_of(segment: &Segment) -> Result<Vec<Record>, StoreError> {
    match segment.data.is_empty() {
        // The mark of a claim.
        true => Ok(Vec::new()),
        false => journal::read(&segment.data).map_err(StoreError::corrupt),
    }
}

/// Returns the records of a journal after a position, and the position after them.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(in crate::engine) async fn records_after(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
    mut position: Position,
) -> Result<(Vec<Record>, Position), StoreError> {
    let mut records = Vec::new();
    for_each_segment(runs, scope, run, position, |_, more, at| {
        records.extend(more);
        position = at;
    })
    .await?;
    Ok((records, position))
}

/// Passes each segment after a position with its records and the position after it.
pub(in crate::engine) async fn for_each_segment(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
    mut position: Position,
    mut take: impl FnMut(&Segment, Vec<Record>, Position),
) -> Result<(), StoreError> {
    loop {
        let question = [TailOf::new(scope.clone(), run, position.segments)];
        let tail = runs.read(&question, PIECE).await?.into_iter().next().flatten();
        let tail = tail.ok_or_else(|| StoreError::gone("the run is not in the store"))?;
        for segment in &tail.segments {
            position = Position::after(segment);
            take(segment, records_of(segment)?, position);
        }
        if position.segments >= tail.head || tail.segments.is_empty() {
            return Ok(());
        }
    }
}

/// Returns the id of the message that a run writes, or `None` if its journal does not have it yet.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(in crate::engine) async fn message_of(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
) -> Result<Option<Text>, StoreError> {
    let mut message = None;
    for_each_segment(runs, scope, run, Position::default(), |_, records, _| {
        let mut ids = of_run(&records).filter_map(|content| match content {
            Content::Event(RunEvent::Start { message_id, .. }) => Some(message_id.clone()),
            _ => None,
        });
        message = message.take().or_else(|| ids.next());
    })
    .await?;
    Ok(message)
}

/// Returns the end of a journal.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(in crate::engine) async fn end_of(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
) -> Result<Position, StoreError> {
    let mut end = Position::default();
    for_each_segment(runs, scope, run, end, |_, _, at| end = at).await?;
    Ok(end)
}

/// Returns the events of a journal after a position, as they were shown, and the position after them. Those of epochs after
/// `last` are left out.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(in crate::engine) async fn after(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
    mut position: Position,
    last: Option<u32>,
) -> Result<(Vec<RunEvent>, Position), StoreError> {
    let mut records = Vec::new();
    for_each_segment(runs, scope, run, position, |segment, more, at| {
        if last.is_none_or(|last| segment.writer.epoch <= last) {
            records.extend(more);
            position = at;
        }
    })
    .await?;
    Ok((journal::exact(&records), position))
}
