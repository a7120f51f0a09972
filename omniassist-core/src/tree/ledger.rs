use super::limits::{AgentBudget, Limit, TreeLimits};

/// The least output for which a model is called, in tokens.
const LEAST_OUTPUT: u64 = 256;

/// The output that is reserved for a call without a maximum of its own, in tokens.
const USUAL_OUTPUT: u64 = 4_096;

/// The output that is kept for the answer of an agent, beside its transcript, in tokens.
const ANSWER: u64 = 1_024;

/// An agent of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

/// The tokens and the calls that the agents of a tree have reserved and spent; see the [module](super).
#[derive(Debug)]
pub struct Ledger {
    limits: TreeLimits,
    calls: u32,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    depth: u32,
    cap: Option<u64>,
    /// The agent's own model calls that are left.
    calls: u32,
    children: u32,
    reserved: u64,
    spent: u64,
    /// The estimated input of the agent's last call: its answer needs as much again.
    input: u64,
    is_open: bool,
}

/// The reserved tokens of one model call. Each is [settled](Ledger::settle) once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is not settled is never released"]
pub struct Reservation {
    node: NodeId,
    tokens: u64,
    max_output: Option<u64>,
    last: Option<Limit>,
}

impl Reservation {
    /// Returns the maximum output of the call, in tokens. `None` if nothing limits it.
    #[must_use]
    pub fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    /// Returns the limit that allows no other call. This one is then made without tools, so that it yields an answer.
    #[must_use]
    pub fn last(&self) -> Option<Limit> {
        self.last
    }
}

impl Ledger {
    /// The agent at the root of each tree.
    pub const ROOT: NodeId = NodeId(0);

    /// Creates the ledger of a tree with its root.
    #[must_use]
    pub fn new(limits: TreeLimits) -> Self {
        let root = Node::new(None, 0, limits.tokens, limits.model_calls);
        Self { limits, calls: limits.model_calls, nodes: vec![root] }
    }

    /// Adds an agent that `parent` asks.
    ///
    /// # Errors
    ///
    /// Returns the limit of the tree that does not allow it.
    pub fn open(&mut self, parent: NodeId, budget: AgentBudget) -> Result<NodeId, Limit> {
        let Some(above) = self.nodes.get(parent.0).filter(|above| above.is_open) else {
            return Err(Limit::Agents);
        };
        if above.depth >= self.limits.depth {
            return Err(Limit::Depth);
        }
        if above.children >= self.limits.children {
            return Err(Limit::Children);
        }
        // The root is not one of the agents that are asked.
        if self.nodes.len() > self.limits.agents as usize {
            return Err(Limit::Agents);
        }
        let node = Node::new(Some(parent), above.depth + 1, budget.tokens, budget.model_calls);
        if let Some(above) = self.nodes.get_mut(parent.0) {
            above.children += 1;
        }
        self.nodes.push(node);
        Ok(NodeId(self.nodes.len() - 1))
    }

    /// Ends an agent: it keeps nothing for its answer any more, and asks no others.
    pub fn close(&mut self, node: NodeId) {
        if let Some(node) = self.nodes.get_mut(node.0) {
            node.is_open = false;
        }
    }

    /// Returns `true` if the depth of the agent allows it to ask others.
    #[must_use]
    pub fn may_ask(&self, node: NodeId) -> bool {
        self.nodes.get(node.0).is_some_and(|node| node.depth < self.limits.depth)
    }

    /// Returns `true` if a budget limits the tokens of an agent. Otherwise its model calls need no estimate of their input.
    #[must_use]
    pub fn counts_tokens(&self, node: NodeId) -> bool {
        self.left(node).is_some()
    }

    /// Reserves the tokens of a model call: its estimated input, and its output of at most `wanted`. Without `wanted`, the
    /// output is not limited if no budget is, and 4,096 tokens otherwise. It is less where a budget would not allow an
    /// answer after it.
    ///
    /// # Errors
    ///
    /// Returns the limit that does not allow the call. Nothing is reserved then.
    pub fn reserve(&mut self, node: NodeId, input: u64, wanted: Option<u64>) -> Result<Reservation, Limit> {
        let own = self.nodes.get(node.0).map_or(0, |node| node.calls);
        // Each agent above needs one more call for its answer.
        let kept = self.above(node).filter(|above| above.is_open).count();
        let shared = u64::from(self.calls).saturating_sub(kept as u64);
        let calls = u64::from(own).min(shared);
        if calls == 0 {
            return Err(Limit::ModelCalls);
        }
        let last_call = (calls == 1).then_some(Limit::ModelCalls);
        let (output, last) = match self.left(node) {
            None => (wanted, last_call),
            Some(left) => {
                let room = left.saturating_sub(input);
                if room < LEAST_OUTPUT {
                    return Err(Limit::Tokens);
                }
                // Another call reads the input and the output of this one.
                let shared = room.saturating_sub(input).saturating_sub(ANSWER) / 2;
                let last = last_call.or((shared < LEAST_OUTPUT).then_some(Limit::Tokens));
                let room = if last.is_some() { room } else { shared };
                (Some(wanted.unwrap_or(USUAL_OUTPUT).min(room)), last)
            }
        };
        let tokens = input.saturating_add(output.unwrap_or(0));
        self.calls -= 1;
        if let Some(node) = self.nodes.get_mut(node.0) {
            node.calls -= 1;
            node.input = input;
        }
        self.for_path(node, |node| node.reserved = node.reserved.saturating_add(tokens));
        Ok(Reservation { node, tokens, max_output: output, last })
    }

    /// Replaces the reservation of a call by the tokens that it used.
    #[expect(clippy::needless_pass_by_value, reason = "each reservation is settled once")]
    pub fn settle(&mut self, reservation: Reservation, used: u64) {
        self.for_path(reservation.node, |node| {
            node.reserved = node.reserved.saturating_sub(reservation.tokens);
            node.spent = node.spent.saturating_add(used);
        });
    }

    /// Counts model calls and tokens of an agent before its run was recovered.
    pub fn count(&mut self, node: NodeId, calls: u32, tokens: u64) {
        self.calls = self.calls.saturating_sub(calls);
        if let Some(node) = self.nodes.get_mut(node.0) {
            node.calls = node.calls.saturating_sub(calls);
        }
        self.for_path(node, |node| node.spent = node.spent.saturating_add(tokens));
    }

    /// Returns the tokens that an agent and all below it have used.
    #[must_use]
    pub fn spent(&self, node: NodeId) -> u64 {
        self.nodes.get(node.0).map_or(0, |node| node.spent)
    }

    /// Returns the tokens that are reserved for calls of an agent and of all below it.
    #[must_use]
    pub fn reserved(&self, node: NodeId) -> u64 {
        self.nodes.get(node.0).map_or(0, |node| node.reserved)
    }

    /// Returns the tokens that may be added to the transcript of an agent, so that its answer still fits its budget. `None`
    /// if nothing limits them.
    #[must_use]
    pub fn room(&self, node: NodeId) -> Option<u64> {
        let kept = self.nodes.get(node.0).map_or(0, |node| node.input.saturating_add(ANSWER));
        self.left(node).map(|left| left.saturating_sub(kept))
    }

    /// Returns the number of agents, the root included.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the tokens that an agent may still reserve. `None` if nothing limits them.
    fn left(&self, node: NodeId) -> Option<u64> {
        let own = self.nodes.get(node.0).and_then(|node| node.left(0));
        let mut kept: u64 = 0;
        let above = self.above(node).filter_map(|above| {
            // All agents in between answer after this one.
            if above.is_open {
                kept = kept.saturating_add(above.input).saturating_add(ANSWER);
            }
            above.left(kept)
        });
        above.chain(own).min()
    }

    /// Returns the agents above one, the nearest first.
    fn above(&self, node: NodeId) -> impl Iterator<Item = &Node> {
        let parent = |node: &Node| node.parent.and_then(|parent| self.nodes.get(parent.0));
        std::iter::successors(self.nodes.get(node.0).and_then(parent), move |node| parent(node))
    }

    fn for_path(&mut self, node: NodeId, mut change: impl FnMut(&mut Node)) {
        let mut next = Some(node);
        while let Some(node) = next.and_then(|node| self.nodes.get_mut(node.0)) {
            change(node);
            next = node.parent;
        }
    }
}

impl Node {
    fn new(parent: Option<NodeId>, depth: u32, cap: Option<u64>, calls: u32) -> Self {
        Self { parent, depth, cap, calls, children: 0, reserved: 0, spent: 0, input: 0, is_open: true }
    }

    /// Returns the tokens of its budget that are left beside `kept` ones. `None` without a budget.
    fn left(&self, kept: u64) -> Option<u64> {
        let taken = self.spent.saturating_add(self.reserved).saturating_add(kept);
        self.cap.map(|cap| cap.saturating_sub(taken))
    }
}
