//! A model of journal, lease and take-over, and a check of all its states.
//!
//! Two tasks of one instance and one of another share a run. Any of them may stop for ever, which is a crash, or go on
//! late; any acknowledgement of the store may be lost; leases may be over at any claim; a viewer approves a call.
//!
//! The rules of the log are not modelled: each state holds a copy of a `MemoryStore`, and the steps call it. The model
//! consists of the tasks. They start a call only after its record was taken, send an unacknowledged record again as it
//! was, and after a take-over repeat idempotent calls alone. A [`Fault`] breaks one of these rules or one of the store's.
//!
//! The limits are two claims and one lost acknowledgement: three writers, of which two may be stale. `stateright` visits
//! the states, since it shows the shortest path to a broken property.

mod model;
mod properties;
mod record;
mod task;
mod world;

use stateright::{Checker, HasDiscoveries, Model};

use self::model::Run;
use self::properties::ONCE_ONLY;
use self::record::{APPROVED, Calls, IDEMPOTENT, ONCE};

/// A rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The store tells writers apart by their instance alone.
    IgnoresEpochs,
    /// The store takes any segment for a repeated one whose position is in the journal.
    IgnoresWriters,
    /// A task starts a call before its record was taken.
    StartsEarly,
    /// A take-over starts all calls again that have no result.
    RepeatsCalls,
}

fn check(fault: Fault, calls: Calls, end: HasDiscoveries) -> impl Checker<Run> {
    let run = Run { fault, calls, lost: 1, claims: 2 };
    run.checker().threads(2).finish_when(end).spawn_bfs().join()
}

#[test]
fn no_order_of_events_breaks_parallel_calls() {
    check(Fault::None, ONCE | IDEMPOTENT, HasDiscoveries::AnyFailures).assert_properties();
}

#[test]
fn no_order_of_events_breaks_an_approved_call() {
    check(Fault::None, ONCE | APPROVED, HasDiscoveries::AnyFailures).assert_properties();
}

#[test]
fn each_broken_rule_makes_a_call_begin_twice() {
    for fault in [Fault::IgnoresEpochs, Fault::IgnoresWriters, Fault::StartsEarly, Fault::RepeatsCalls] {
        let checked = check(fault, ONCE | IDEMPOTENT, HasDiscoveries::AnyOf([ONCE_ONLY].into()));
        assert!(checked.discovery(ONCE_ONLY).is_some(), "{fault:?} was not found");
    }
}
