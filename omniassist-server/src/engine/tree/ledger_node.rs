use std::sync::{Arc, Mutex};

use omniassist_core::Text;
use omniassist_core::tree::{AgentBudget, Ledger, Limit, NodeId, TreeLimits};

use super::branch::{Begin, Branch, Tree};
use crate::sync::lock;

/// The node in the ledger of an agent that makes several runs. All spend from its budget. Dropping it ends the agent.
pub(in crate::engine) struct LedgerNode {
    tree: Arc<Tree>,
    node: NodeId,
    agent_id: Text,
    depth: u32,
}

impl LedgerNode {
    /// Creates a tree with its root.
    pub(in crate::engine) fn root(begin: Arc<dyn Begin>, limits: TreeLimits, agent_id: Text) -> Self {
        let ledger = Arc::new(Mutex::new(Ledger::new(limits)));
        let tree = Arc::new(Tree { begin, limits, ledger });
        Self { tree, node: Ledger::ROOT, agent_id, depth: 0 }
    }

    /// Adds an agent below.
    ///
    /// # Errors
    ///
    /// Returns the limit of the tree that does not allow it.
    pub(in crate::engine) fn below(&self, agent_id: Text, budget: AgentBudget) -> Result<Self, Limit> {
        let node = lock(&self.tree.ledger).open(self.node, budget)?;
        Ok(Self { tree: Arc::clone(&self.tree), node, agent_id, depth: self.depth + 1 })
    }

    /// Returns the branch for one run.
    pub(in crate::engine) fn branch(&self) -> Branch {
        Branch::of_node(Arc::clone(&self.tree), self.node, self.agent_id.clone(), self.depth)
    }

    /// Returns `true` if the depth of the tree allows the agent to have others below it.
    pub(in crate::engine) fn may_ask(&self) -> bool {
        lock(&self.tree.ledger).may_ask(self.node)
    }

    /// Returns the number of agents that work for one agent at the same time.
    pub(in crate::engine) fn max_parallel(&self) -> usize {
        self.tree.limits.max_parallel()
    }

    /// Returns the id of the agent.
    pub(in crate::engine) fn agent_id(&self) -> &Text {
        &self.agent_id
    }

    /// Returns the number of agents above.
    pub(in crate::engine) fn depth(&self) -> u32 {
        self.depth
    }
}

impl Drop for LedgerNode {
    fn drop(&mut self) {
        lock(&self.tree.ledger).close(self.node);
    }
}
