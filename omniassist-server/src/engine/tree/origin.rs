use uuid::Uuid;

use super::Branch;
use super::agent_records::AgentRecords;
use crate::RunContext;
use crate::instances::Instances;

/// The identity of a run.
pub(in crate::engine) struct Origin {
    /// The id of the run and, if it writes a new one, of its message. Drawing random bytes is a system call, so one draw
    /// serves both.
    pub(in crate::engine) id: Uuid,
    /// `true` if the store has the answers of the user, so that each is used once.
    pub(in crate::engine) has_stored_answers: bool,
    /// The place in a tree of agents of a run that another one has asked for. `None` for a run of its own.
    pub(in crate::engine) branch: Option<Branch>,
    /// The agents of a stored run. `None` for any other, and for one that another run has asked for.
    pub(in crate::engine) agents: Option<AgentRecords>,
    /// The instances of components that the conversation shows.
    pub(in crate::engine) instances: Instances,
    /// The run whose tool has asked for this one. Both share one state with the client.
    pub(in crate::engine) asked_by: Option<RunContext>,
}

impl Origin {
    /// Creates the identity of a run that is not stored.
    pub(in crate::engine) fn new() -> Self {
        let instances = Instances::default();
        let (branch, agents, asked_by) = (None, None, None);
        Self { id: Uuid::now_v7(), has_stored_answers: false, branch, agents, instances, asked_by }
    }

    /// Sets the instances of components that the conversation shows.
    pub(in crate::engine) fn showing(self, instances: Instances) -> Self {
        Self { instances, ..self }
    }

    /// Creates the identity of a run within a tree of agents.
    pub(in crate::engine) fn within(id: Uuid, has_stored_answers: bool, branch: Branch) -> Self {
        Self { id, has_stored_answers, branch: Some(branch), ..Self::new() }
    }

    /// Creates the identity of a run that a tool of another one has asked for.
    pub(in crate::engine) fn asked(id: Uuid, parent: &RunContext, branch: Branch) -> Self {
        Self { asked_by: Some(parent.clone()), ..Self::within(id, parent.is_answered_by_store(), branch) }
    }
}
