use std::collections::BTreeMap;
use std::sync::Arc;

use omniassist_core::run::ClientAbilities;
use omniassist_core::tree::TreeLimits;
use omniassist_core::{JsonText, Text};

use super::agent_records::AgentRecords;
use super::asking::Suspended;
use super::branch::{Begin, Branch};

/// The root of a tree that has not begun: most runs have tools, and few of these make calls of their own.
pub(in crate::engine) struct Seed {
    begin: Arc<dyn Begin>,
    stored: Option<Arc<AgentRecords>>,
    abilities: ClientAbilities,
    suspended: BTreeMap<Text, Suspended>,
}

impl Seed {
    pub(in crate::engine) fn new(
        begin: Arc<dyn Begin>,
        stored: Option<Arc<AgentRecords>>,
        abilities: ClientAbilities,
        suspended: BTreeMap<Text, Suspended>,
    ) -> Self {
        Self { begin, stored, abilities, suspended }
    }

    /// Returns the root.
    pub(in crate::engine) fn grow(self, limits: TreeLimits) -> Branch {
        let mut branch = Branch::root(self.begin, limits, self.stored);
        branch.set_client(self.abilities, self.suspended);
        branch
    }

    /// Returns the state of the tool of a call that waited for the user.
    pub(in crate::engine) fn resumed_state(&self, call_id: &Text) -> Option<JsonText> {
        self.suspended.get(call_id)?.state()
    }
}
