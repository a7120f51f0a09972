use super::account::{Account, TokenPrice, Unit};
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

/// The tokens, the cost and the calls that the agents of a tree have reserved and spent; see the [module](super).
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
    tokens: Account,
    cost: Account,
    /// The agent's own model calls that are left.
    calls: u32,
    children: u32,
    /// The estimated input of the agent's last call, and the price of its model: its answer needs as much again.
    input: u64,
    price: Option<TokenPrice>,
    is_open: bool,
}

/// The reserved tokens and cost of one model call. Each is [settled](Ledger::settle) once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is not settled is never released"]
pub struct Reservation {
    node: NodeId,
    tokens: u64,
    cost: u128,
    max_output: Option<u64>,
    bound: Limit,
    last: Option<Limit>,
}

impl Reservation {
    /// Returns the maximum output of the call, in tokens. `None` if nothing limits it.
    #[must_use]
    pub fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    /// Returns the limit that a longer output than the maximum exceeds.
    #[must_use]
    pub fn bound(&self) -> Limit {
        self.bound
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
        let root = Node::new(None, 0, limits.tokens, limits.cost, limits.model_calls);
        Self { limits, calls: limits.model_calls, nodes: vec![root] }
    }

    /// Adds an agent that `parent` asks.
    ///
    /// # Errors
    ///
    /// Returns the limit of the tree that does not allow it.
    pub fn open(&mut self, parent: NodeId, budget: AgentBudget) -> Result<NodeId, Limit> {
        self.check(parent, 0)?;
        let above = self.nodes.get_mut(parent.0).ok_or(Limit::Agents)?;
        above.children += 1;
        let depth = above.depth + 1;
        self.nodes.push(Node::new(Some(parent), depth, budget.tokens, budget.cost, budget.model_calls));
        Ok(NodeId(self.nodes.len() - 1))
    }

    /// Checks that `parent` may ask an agent after `waiting` others, which are not added yet.
    ///
    /// # Errors
    ///
    /// Returns the limit of the tree that does not allow it.
    pub fn check(&self, parent: NodeId, waiting: usize) -> Result<(), Limit> {
        let Some(above) = self.nodes.get(parent.0).filter(|above| above.is_open) else {
            return Err(Limit::Agents);
        };
        if above.depth >= self.limits.depth {
            return Err(Limit::Depth);
        }
        if (above.children as usize).saturating_add(waiting) >= self.limits.children as usize {
            return Err(Limit::Children);
        }
        // The root is not one of the agents that are asked.
        if self.nodes.len().saturating_add(waiting) > self.limits.agents as usize {
            return Err(Limit::Agents);
        }
        Ok(())
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

    /// Returns `true` if a budget limits the tokens or the cost of an agent. Otherwise its model calls need no estimate of
    /// their input.
    #[must_use]
    pub fn counts_tokens(&self, node: NodeId) -> bool {
        Unit::ALL.iter().any(|unit| self.left(node, *unit, None).is_some())
    }

    /// Reserves the tokens and the cost of a model call: its estimated input, and its output of at most `wanted`. Without
    /// `wanted`, the output is not limited if no budget is, and 4,096 tokens otherwise. It is less where a budget would not
    /// allow an answer after it.
    ///
    /// A model without a price cannot be called if a budget limits the cost.
    ///
    /// # Errors
    ///
    /// Returns the limit that does not allow the call. Nothing is reserved then.
    pub fn reserve(
        &mut self,
        node: NodeId,
        input: u64,
        wanted: Option<u64>,
        price: Option<TokenPrice>,
    ) -> Result<Reservation, Limit> {
        let own = self.nodes.get(node.0).map_or(0, |node| node.calls);
        // Each agent above needs one more call for its answer.
        let kept = self.above(node).filter(|above| above.is_open).count();
        let shared = u64::from(self.calls).saturating_sub(kept as u64);
        let calls = u64::from(own).min(shared);
        if calls == 0 {
            return Err(Limit::ModelCalls);
        }
        let mut last = (calls == 1).then_some(Limit::ModelCalls);
        let mut rooms = [None; 2];
        for (unit, room) in Unit::ALL.into_iter().zip(&mut rooms) {
            let Some(left) = self.left(node, unit, price) else { continue };
            let price = unit.price(price).ok_or(unit.limit())?;
            if price == TokenPrice::default() {
                continue;
            }
            let (alone, shared) = outputs(left, input, price);
            if alone < LEAST_OUTPUT {
                return Err(unit.limit());
            }
            last = last.or((shared < LEAST_OUTPUT).then_some(unit.limit()));
            *room = Some((unit.limit(), alone, shared));
        }
        let is_last = last.is_some();
        let rooms = rooms.into_iter().flatten();
        let most = rooms.map(|(limit, alone, shared)| (limit, if is_last { alone } else { shared }));
        let most = most.min_by_key(|(_, most)| *most);
        let max_output = most.map_or(wanted, |(_, most)| Some(wanted.unwrap_or(USUAL_OUTPUT).min(most)));
        let bound = most.map_or(Limit::Tokens, |(limit, _)| limit);
        let output = max_output.unwrap_or(0);
        let (tokens, cost) = (input.saturating_add(output), price.unwrap_or_default().cost(input, output));
        self.calls -= 1;
        if let Some(node) = self.nodes.get_mut(node.0) {
            node.calls -= 1;
            (node.input, node.price) = (input, price);
        }
        self.for_path(node, |node| {
            node.tokens.reserved = node.tokens.reserved.saturating_add(tokens.into());
            node.cost.reserved = node.cost.reserved.saturating_add(cost);
        });
        Ok(Reservation { node, tokens, cost, max_output, bound, last })
    }

    /// Replaces the reservation of a call by the tokens that it used, and by their [cost](TokenPrice::cost).
    #[expect(clippy::needless_pass_by_value, reason = "each reservation is settled once")]
    pub fn settle(&mut self, reservation: Reservation, tokens: u64, cost: u128) {
        self.for_path(reservation.node, |node| {
            node.tokens.settle(reservation.tokens.into(), tokens.into());
            node.cost.settle(reservation.cost, cost);
        });
    }

    /// Counts model calls, tokens and their [cost](TokenPrice::cost) of an agent before its run was recovered.
    pub fn count(&mut self, node: NodeId, calls: u32, tokens: u64, cost: u128) {
        self.calls = self.calls.saturating_sub(calls);
        if let Some(node) = self.nodes.get_mut(node.0) {
            node.calls = node.calls.saturating_sub(calls);
        }
        self.for_path(node, |node| {
            node.tokens.settle(0, tokens.into());
            node.cost.settle(0, cost);
        });
    }

    /// Returns the tokens that an agent and all below it have used.
    #[must_use]
    pub fn spent(&self, node: NodeId) -> u64 {
        self.of(node, |node| node.tokens.spent).try_into().unwrap_or(u64::MAX)
    }

    /// Returns the tokens that are reserved for calls of an agent and of all below it.
    #[must_use]
    pub fn reserved(&self, node: NodeId) -> u64 {
        self.of(node, |node| node.tokens.reserved).try_into().unwrap_or(u64::MAX)
    }

    /// Returns the [cost](TokenPrice::cost) of an agent and of all below it.
    #[must_use]
    pub fn spent_cost(&self, node: NodeId) -> u128 {
        self.of(node, |node| node.cost.spent)
    }

    /// Returns the [cost](TokenPrice::cost) that is reserved for calls of an agent and of all below it.
    #[must_use]
    pub fn reserved_cost(&self, node: NodeId) -> u128 {
        self.of(node, |node| node.cost.reserved)
    }

    /// Returns the tokens that may be added to the transcript of an agent, so that its answer still fits its budget. `None`
    /// if nothing limits them.
    #[must_use]
    pub fn room(&self, node: NodeId) -> Option<u64> {
        let own = self.nodes.get(node.0)?;
        let rooms = Unit::ALL.into_iter().filter_map(|unit| {
            let price = unit.price(own.price).unwrap_or_default();
            let left = self.left(node, unit, own.price)?.saturating_sub(price.cost(own.input, ANSWER));
            left.checked_div(price.input.into()).map(|tokens| tokens.try_into().unwrap_or(u64::MAX))
        });
        rooms.min()
    }

    /// Returns the number of agents, the root included.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.nodes.len()
    }

    fn of(&self, node: NodeId, number: impl FnOnce(&Node) -> u128) -> u128 {
        self.nodes.get(node.0).map_or(0, number)
    }

    /// Returns what an agent may still reserve. `None` if nothing limits it. An agent above that has called no model counts
    /// with `price`.
    fn left(&self, node: NodeId, unit: Unit, price: Option<TokenPrice>) -> Option<u128> {
        let own = self.nodes.get(node.0).and_then(|node| node.account(unit).left(0));
        let mut kept: u128 = 0;
        let above = self.above(node).filter_map(|above| {
            // All agents in between answer after this one.
            if above.is_open {
                let price = unit.price(above.price.or(price)).unwrap_or_default();
                kept = kept.saturating_add(price.cost(above.input, ANSWER));
            }
            above.account(unit).left(kept)
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
    fn new(parent: Option<NodeId>, depth: u32, tokens: Option<u64>, micros: Option<u64>, calls: u32) -> Self {
        let (tokens, cost) = (Account::of_tokens(tokens), Account::of_micros(micros));
        Self { parent, depth, tokens, cost, calls, children: 0, input: 0, price: None, is_open: true }
    }

    fn account(&self, unit: Unit) -> &Account {
        match unit {
            Unit::Tokens => &self.tokens,
            Unit::Cost => &self.cost,
        }
    }
}

/// Returns the output, in tokens, for which `left` has room: of a call that no other follows, and of one that another one
/// follows, which reads the input and the output of the first.
fn outputs(left: u128, input: u64, price: TokenPrice) -> (u64, u64) {
    let tokens = |left: u128, price: u128| {
        left.checked_div(price).map_or(u64::MAX, |tokens| tokens.try_into().unwrap_or(u64::MAX))
    };
    let alone = left.checked_sub(price.cost(input, 0));
    let shared = alone.map(|left| left.saturating_sub(price.cost(input, ANSWER)));
    let (own, both) = (u128::from(price.output), u128::from(price.input) + u128::from(price.output));
    (alone.map_or(0, |left| tokens(left, own)), shared.map_or(0, |left| tokens(left, both)))
}
