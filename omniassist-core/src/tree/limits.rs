use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The limits of a tree of agents: of one run, with all agents that are asked in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "limits do nothing until they are given to a builder"]
pub struct TreeLimits {
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<u64>,
    pub(super) model_calls: u32,
    pub(super) agents: u32,
    pub(super) depth: u32,
    pub(super) children: u32,
    parallel: usize,
}

impl TreeLimits {
    /// Returns the default limits.
    pub const fn new() -> Self {
        Self { tokens: None, cost: None, model_calls: 64, agents: 64, depth: 3, children: 16, parallel: 4 }
    }

    /// Sets the tokens of the whole tree, input and output of all model calls. Default: no limit.
    pub const fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the cost of all model calls of the whole tree, in millionths of a US dollar, or of the currency of the host's
    /// prices. Default: no limit.
    ///
    /// The cost of each call is reserved before it is made, for its estimated input and its maximum output. A call of a
    /// model without a price is not made.
    pub const fn cost_micro_usd(mut self, micros: u64) -> Self {
        self.cost = Some(micros);
        self
    }

    /// Sets the number of model calls of the whole tree. Default: 64.
    pub const fn model_calls(mut self, calls: u32) -> Self {
        self.model_calls = calls;
        self
    }

    /// Sets the number of agents that are asked in the whole tree. Default: 64.
    pub const fn agents(mut self, agents: u32) -> Self {
        self.agents = agents;
        self
    }

    /// Sets the depth of the tree: 1 lets the first agent ask others, which cannot ask any. The deepest is 8. Default: 3.
    pub const fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the number of agents that one agent asks. Default: 16.
    pub const fn children(mut self, children: u32) -> Self {
        self.children = children;
        self
    }

    /// Sets the number of agents that work for one agent at the same time. More wait. The most is 64. Default: 4.
    pub const fn parallel(mut self, parallel: usize) -> Self {
        self.parallel = parallel;
        self
    }

    /// Returns the depth of the tree.
    #[must_use]
    pub const fn max_depth(&self) -> u32 {
        self.depth
    }

    /// Returns the tokens of the whole tree, if they are limited.
    #[must_use]
    pub const fn max_tokens(&self) -> Option<u64> {
        self.tokens
    }

    /// Returns the cost of the whole tree in millionths of the currency, if it is limited.
    #[must_use]
    pub const fn max_cost(&self) -> Option<u64> {
        self.cost
    }

    /// Returns the number of agents that work for one agent at the same time.
    #[must_use]
    pub const fn max_parallel(&self) -> usize {
        self.parallel
    }

    /// Returns the name of a limit that is zero, with which no agent could do anything.
    #[must_use]
    pub fn zero_limit(&self) -> Option<&'static str> {
        let Self { tokens, cost, model_calls, agents, depth, children, parallel } = *self;
        first_zero(&[
            ("tokens", tokens == Some(0)),
            ("cost", cost == Some(0)),
            ("model_calls", model_calls == 0),
            ("agents", agents == 0),
            ("depth", depth == 0),
            ("children", children == 0),
            ("parallel", parallel == 0),
        ])
    }
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The budget of one agent each time that it is asked, with all agents that it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a budget does nothing until it is given to an agent"]
pub struct AgentBudget {
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<u64>,
    pub(super) model_calls: u32,
    time: Duration,
}

impl AgentBudget {
    /// Returns the default budget.
    pub const fn new() -> Self {
        Self { tokens: None, cost: None, model_calls: 16, time: Duration::from_secs(180) }
    }

    /// Sets the tokens, input and output of all model calls. Default: no limit of its own.
    pub const fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the cost of all model calls, as [`TreeLimits::cost_micro_usd`] does. Default: no limit of its own.
    pub const fn cost_micro_usd(mut self, micros: u64) -> Self {
        self.cost = Some(micros);
        self
    }

    /// Sets the number of the agent's own model calls. Default: 16.
    pub const fn model_calls(mut self, calls: u32) -> Self {
        self.model_calls = calls;
        self
    }

    /// Sets the longest time. Default: 3 minutes.
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Returns the cost in millionths of the currency, if it is limited.
    #[must_use]
    pub const fn max_cost(&self) -> Option<u64> {
        self.cost
    }

    /// Returns the longest time.
    #[must_use]
    pub const fn max_time(&self) -> Duration {
        self.time
    }

    /// Returns the name of a limit that is zero, with which the agent could do nothing.
    #[must_use]
    pub fn zero_limit(&self) -> Option<&'static str> {
        first_zero(&[
            ("tokens", self.tokens == Some(0)),
            ("cost", self.cost == Some(0)),
            ("model_calls", self.model_calls == 0),
            ("time", self.time.is_zero()),
        ])
    }
}

impl Default for AgentBudget {
    fn default() -> Self {
        Self::new()
    }
}

fn first_zero(limits: &[(&'static str, bool)]) -> Option<&'static str> {
    limits.iter().find(|(_, is_zero)| *is_zero).map(|(name, _)| *name)
}

/// A limit that a tree of agents has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The tokens of the agent, or of one above it.
    Tokens,
    /// The cost of the agent, or of one above it. A model without a price reaches it at once.
    Cost,
    /// The model calls of the agent, or of the tree.
    ModelCalls,
    /// The agents of the tree.
    Agents,
    /// The agents that one agent asks.
    Children,
    /// The depth of the tree.
    Depth,
    /// The time of the agent.
    Time,
}

impl Limit {
    /// Returns the name for programs, such as `model_calls`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::ModelCalls => "model_calls",
            Self::Agents => "agents",
            Self::Children => "children",
            Self::Depth => "depth",
            Self::Time => "time",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "the tokens of this task are used up",
            Self::Cost => "the cost of this task has reached its limit",
            Self::ModelCalls => "the model calls of this task are used up",
            Self::Agents => "no more agents may be asked for this task",
            Self::Children => "this agent may not ask more agents",
            Self::Depth => "an agent at this depth may not ask others",
            Self::Time => "the time of this task is over",
        })
    }
}

impl Error for Limit {}
