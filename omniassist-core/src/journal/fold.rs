use super::{Content, JournalError, Record};
use crate::run::{Recovered, Recovery, RunMachine};

/// Rebuilds a run from its journal, oldest record first.
///
/// `machine` is the one that [`RunMachine::start`] returns for the request that began the run, with the same settings.
/// Its events are those with which the journal begins, so they are dropped.
///
/// A turn of the model that the journal does not complete is asked for again: its tools have not started. Records of
/// [agents](super::Head::AGENT) are ignored: each is a run of its own, rebuilt from its records.
///
/// # Errors
///
/// Returns an error if the journal lacks an event of a turn, or has a required record of a later version.
pub fn fold(
    machine: RunMachine,
    records: impl IntoIterator<Item = Record>,
) -> Result<Recovered, JournalError> {
    let mut recovery = Recovery::new(machine);
    for Record { head, content } in records {
        if head.agent().is_some() {
            continue;
        }
        match content {
            Content::Event(event) => recovery.event(event),
            Content::Deltas(deltas) => recovery.event(deltas.merged()),
            Content::Turn(turn) => {
                if !recovery.turn(*turn) {
                    return Err(JournalError::incomplete());
                }
            }
            Content::Begun(calls) => recovery.begun(calls),
            Content::Kept(handle) => recovery.kept(handle),
            Content::UnknownOutcome(call_id) => recovery.unknown_outcome(&call_id),
            Content::Unknown(unknown) if unknown.is_required() => {
                return Err(JournalError::required(unknown.kind()));
            }
            Content::Unknown(_) => {}
        }
    }
    Ok(recovery.finish())
}
