//! Reading the journal of a stored run.

use omniassist_core::RunEvent;
use omniassist_core::journal::{self, Content, Record};

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

/// The last leg of a run: the part of its journal after the last time that it waited.
pub(super) struct LastLeg {
    /// The position before the leg.
    pub(super) from: Position,
    /// The end of the journal.
    pub(super) at: Position,
    /// The records of the leg. Empty if the run still waits, or has waited until now.
    pub(super) records: Vec<Record>,
}

impl LastLeg {
    /// Reads the last leg of a run.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read, or is gone.
    pub(super) async fn read(runs: &dyn RunStore, scope: &Scope, run: RunId) -> Result<Self, StoreError> {
        let mut leg = Self { from: Position::default(), at: Position::default(), records: Vec::new() };
        for_each_segment(runs, scope, run, Position::default(), |_, records, at| {
            leg.records.extend(records);
            leg.at = at;
            // The end of a leg is the last event of its segment.
            let last = leg.records.iter().rev().find_map(|record| match &record.content {
                Content::Event(event) => Some(event.is_terminal()),
                Content::Deltas(_) => Some(false),
                _ => None,
            });
            if last == Some(true) {
                leg.from = at;
                leg.records.clear();
            }
        })
        .await?;
        Ok(leg)
    }

    /// Returns `true` if the run has not waited yet.
    pub(super) fn is_first(&self) -> bool {
        self.from == Position::default()
    }
}
