//! Reading the journal of a stored run.

use omniassist_core::RunEvent;
use omniassist_core::journal::{self, Record};

use crate::store::{RunId, RunStore, Scope, Segment, StoreError, TailOf};

/// The bytes of a journal that are read at once.
const PIECE: usize = 256 * 1024;

/// A position in a journal: the number of segments and events up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) segments: u32,
    pub(super) events: u64,
}

/// Returns the records of a journal after a position, and the position after them.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(super) async fn records_after(
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
pub(super) async fn for_each_segment(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
    mut position: Position,
    mut take: impl FnMut(&Segment, Vec<Record>, Position),
) -> Result<(), StoreError> {
    loop {
        let question = [TailOf::new(scope.clone(), run, position.segments)];
        let tail = runs.read(&question, PIECE).await?.into_iter().next().flatten();
        let tail = tail.ok_or_else(|| StoreError::other("the run is not in the store"))?;
        for segment in &tail.segments {
            position = Position { segments: segment.pos, events: u64::from(segment.events) };
            // The mark of a claim has no data.
            let records = match segment.data.is_empty() {
                true => Vec::new(),
                false => journal::read(&segment.data).map_err(StoreError::corrupt)?,
            };
            take(segment, records, position);
        }
        if position.segments >= tail.head || tail.segments.is_empty() {
            return Ok(());
        }
    }
}

/// Returns the events of a journal after a position, as they were shown.
///
/// # Errors
///
/// Returns an error if the journal cannot be read, or is gone.
pub(super) async fn after(
    runs: &dyn RunStore,
    scope: &Scope,
    run: RunId,
    position: Position,
) -> Result<(Vec<RunEvent>, Position), StoreError> {
    let (records, position) = records_after(runs, scope, run, position).await?;
    Ok((journal::exact(&records), position))
}
