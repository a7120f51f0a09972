use std::collections::BTreeSet;

use omniassist_core::journal::Record;
use omniassist_core::run::Action;
use omniassist_core::{AnswerHandle, KeptAnswer, Text, Usage};

use crate::Cost;

/// The use of a stored run before its leg.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsedBefore {
    pub(super) usage: Usage,
    /// `None` if it is not known.
    pub(super) cost: Option<Cost>,
}

impl Default for UsedBefore {
    fn default() -> Self {
        Self { usage: Usage::default(), cost: Some(Cost::default()) }
    }
}

/// The gate of one run. A run that is not stored has none.
#[derive(Default)]
pub(super) struct Gate {
    /// The journal of a run that was interrupted, until the run begins.
    pub(super) journal: Option<Vec<Record>>,
    /// Calls that had begun when the run was interrupted.
    pub(super) interrupted: BTreeSet<Text>,
    /// The answer that the model was writing when the run was interrupted, until the model is called.
    pub(super) fetch: Option<AnswerHandle>,
    /// The answers of the run, as their provider sees them. `None` for an asked agent, whose turn is asked for again.
    pub(super) kept: Option<KeptAnswer>,
    /// The records that the journal needs before the action is carried out.
    pub(super) records: Vec<Record>,
    pub(super) waiting: Option<Due>,
    /// The end of the run states the sums of all legs.
    pub(super) before: UsedBefore,
}

/// The work that waits for the gate to open.
pub(super) enum Due {
    Action(Action),
    /// Tools of the queue start.
    Tools,
}

impl Gate {
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }
}
