use std::collections::VecDeque;

use crate::tool::AgentAsk;

/// The number of questions up to which closed ones are kept.
const FEW: usize = 64;

/// The questions of tools that wait until another agent has ended, in their order.
pub(super) struct Waiting {
    asks: VecDeque<AgentAsk>,
    /// The number of agents among them. The calls of tools are no agents.
    agents: usize,
    /// The number of questions at which closed ones are removed. It grows with the number of open ones, so the cost of a
    /// question does not depend on that number.
    full: usize,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { asks: VecDeque::new(), agents: 0, full: FEW }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    /// Returns the number of agents that wait. Some may not be needed any more.
    pub(super) fn agents(&self) -> usize {
        self.agents
    }

    pub(super) fn push(&mut self, ask: AgentAsk) {
        if self.asks.len() >= self.full {
            self.remove_closed();
        }
        self.agents += usize::from(ask.inner.is_none());
        self.asks.push_back(ask);
    }

    pub(super) fn pop(&mut self) -> Option<AgentAsk> {
        let ask = self.asks.pop_front()?;
        self.agents -= usize::from(ask.inner.is_none());
        Some(ask)
    }

    /// Removes closed questions: their callers do not wait any more.
    pub(super) fn remove_closed(&mut self) {
        self.retain(|ask| !ask.reply.is_closed());
        self.full = FEW.max(2 * self.asks.len());
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&AgentAsk) -> bool) {
        self.asks.retain(keep);
        self.agents = self.asks.iter().filter(|ask| ask.inner.is_none()).count();
    }
}
