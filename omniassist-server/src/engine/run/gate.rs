use std::collections::BTreeSet;

use omniassist_core::journal::Record;
use omniassist_core::run::Action;
use omniassist_core::{AnswerHandle, KeptAnswer, Text, Usage};

use crate::Cost;

/// The use of a stored run before its leg.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct UsedBefore {
    pub(in crate::engine) usage: Usage,
    /// `None` if it is not known.
    pub(in crate::engine) cost: Option<Cost>,
}

impl Default for UsedBefore {
    fn default() -> Self {
        Self { usage: Usage::default(), cost: Some(Cost::default()) }
    }
}

/// The gate of one run. A run that is not stored has none.
#[derive(Default)]
pub(in crate::engine) struct Gate {
    /// The journal of a run that was interrupted, until the run begins.
    pub(in crate::engine) journal: Option<Vec<Record>>,
    /// Calls that had begun when the run was interrupted.
    pub(in crate::engine) interrupted: BTreeSet<Text>,
    /// The answer that the model was writing when the run was interrupted, until the model is called.
    pub(in crate::engine) fetch: Option<AnswerHandle>,
    /// The answers of the run, as their provider sees them. `None` for an asked agent, whose turn is asked for again.
    pub(in crate::engine) kept: Option<KeptAnswer>,
    /// The records that the journal needs before the action is carried out.
    pub(in crate::engine) records: Vec<Record>,
    pub(in crate::engine) waiting: Option<Due>,
    /// The end of the run states the sums of all legs.
    pub(in crate::engine) before: UsedBefore,
}

/// The work that waits for the gate to open.
pub(super) enum Due {
    Action(Action),
    /// Tools of the queue start.
    Tools,
}

impl Gate {
    pub(in crate::engine) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }
}
