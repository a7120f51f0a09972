use uuid::Uuid;

use super::agent_records::AgentRecords;
use super::tree::Branch;
use crate::RunContext;
use crate::instances::Instances;

/// The identity of a run.
pub(super) struct Origin {
    /// The id of the run and, if it writes a new one, of its message. Drawing random bytes is a system call, so one draw
    /// serves both.
    pub(super) id: Uuid,
    /// `true` if the store has the answers of the user, so that each is used once.
    pub(super) has_stored_answers: bool,
    /// The place in a tree of agents of a run that another one has asked for. `None` for a run of its own.
    pub(super) branch: Option<Branch>,
    /// The agents of a stored run. `None` for any other, and for one that another run has asked for.
    pub(super) agents: Option<AgentRecords>,
    /// The instances of components that the conversation shows.
    pub(super) instances: Instances,
    /// The run whose tool has asked for this one. Both share one state with the client.
    pub(super) asked_by: Option<RunContext>,
}

impl Origin {
    /// Creates the identity of a run that is not stored.
    pub(super) fn new() -> Self {
        let instances = Instances::default();
        let (branch, agents, asked_by) = (None, None, None);
        Self { id: Uuid::now_v7(), has_stored_answers: false, branch, agents, instances, asked_by }
    }

    /// Sets the instances of components that the conversation shows.
    pub(super) fn showing(self, instances: Instances) -> Self {
        Self { instances, ..self }
    }

    /// Creates the identity of a run within a tree of agents.
    pub(super) fn within(id: Uuid, has_stored_answers: bool, branch: Branch) -> Self {
        Self { id, has_stored_answers, branch: Some(branch), ..Self::new() }
    }

    /// Creates the identity of a run that a tool of another one has asked for.
    pub(super) fn asked(id: Uuid, parent: &RunContext, branch: Branch) -> Self {
        Self { asked_by: Some(parent.clone()), ..Self::within(id, parent.is_answered_by_store(), branch) }
    }
}
