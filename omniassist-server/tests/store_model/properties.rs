//! The properties of the model: those of each state, and those of some state.

use omniassist_server::store::{RunState, SegmentKind};
use stateright::Property;

use super::model::{Run, State};
use super::record::{ALL, APPROVED, Calls, Fold, IDEMPOTENT, ONCE, Record};
use super::task::Task;

/// The property that each fault breaks.
pub(crate) const ONCE_ONLY: &str = "no call begins twice";

/// Returns the properties of a model.
pub(crate) fn of(run: &Run) -> Vec<Property<Run>> {
    let mut properties = vec![
        Property::always(ONCE_ONLY, |_, state: &State| {
            ALL.iter().zip(state.starts).all(|(call, starts)| *call == IDEMPOTENT || starts <= 1)
        }),
        Property::always("a call begins after its record", |_, state: &State| {
            let begun = state.fold().begun;
            ALL.iter().zip(state.starts).all(|(call, starts)| starts == 0 || begun & call != 0)
        }),
        Property::always("a call has one outcome", |_, state: &State| {
            let outcome = |record| match record {
                Record::Result(call) | Record::Unknown(call) => Some(call),
                _ => None,
            };
            let outcomes: Vec<Calls> = state.world.records().filter_map(outcome).collect();
            ALL.iter().all(|call| outcomes.iter().filter(|outcome| *outcome == call).count() <= 1)
        }),
        Property::always("no gap", |_, state: &State| {
            (1..).zip(&state.world.journal).all(|(pos, segment)| segment.pos == pos)
        }),
        Property::always("each writer begins with a mark", |_, state: &State| {
            state.world.journal.windows(2).all(|pair| {
                let is_mark = matches!(pair[1].kind, SegmentKind::Takeover | SegmentKind::Handover);
                let grown = pair[1].writer.epoch - pair[0].writer.epoch;
                grown == u32::from(is_mark)
            })
        }),
        Property::always("nothing acknowledged is lost", |_, state: &State| !state.has_lost),
        Property::always("one end, as the last segment", |_, state: &State| {
            let mut records = state.world.records();
            let ends_at = records.position(|record| record == Record::Finished);
            let is_last = ends_at.is_none_or(|at| at + 1 == state.world.journal.len());
            is_last && ends_at.is_some() == (state.world.state == RunState::Finished)
        }),
        Property::sometimes("a take-over in the middle ends the run", |_, state: &State| {
            state.is_over_after(SegmentKind::Takeover)
        }),
        Property::sometimes("a hand-over ends the run", |_, state: &State| {
            state.is_over_after(SegmentKind::Handover)
        }),
        Property::sometimes("an outcome is unknown", |_, state: &State| {
            state.world.records().any(|record| record == Record::Unknown(ONCE))
        }),
        Property::sometimes("a stale task is refused", |_, state: &State| {
            let leaves = |record| matches!(record, Record::Released | Record::Waiting | Record::Finished);
            state.tasks[0] == Task::Idle && !state.world.records().any(leaves)
        }),
    ];
    if run.calls & IDEMPOTENT != 0 {
        properties.push(Property::sometimes("an idempotent call is repeated", |_, state: &State| {
            state.starts[1] > 1
        }));
    }
    if run.calls & APPROVED != 0 {
        properties
            .push(Property::sometimes("an approved call has an unknown outcome", |_, state: &State| {
                state.world.records().any(|record| record == Record::Unknown(APPROVED))
            }));
    }
    properties
}

impl State {
    fn fold(&self) -> Fold {
        Fold::of(self.world.records())
    }

    /// Returns `true` for a run that has ended after such a mark behind its first call.
    fn is_over_after(&self, mark: SegmentKind) -> bool {
        let begun = self.world.records().position(|record| matches!(record, Record::Begun(_)));
        let marked = self.world.journal.iter().rposition(|segment| segment.kind == mark);
        self.world.state == RunState::Finished && begun.zip(marked).is_some_and(|(begun, mark)| begun < mark)
    }
}
