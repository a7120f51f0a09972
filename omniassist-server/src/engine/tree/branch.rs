use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use omniassist_core::event::AgentState;
use omniassist_core::journal::Record;
use omniassist_core::run::ClientAbilities;
use omniassist_core::tree::{AgentBudget, Ledger, Limit, NodeId, TreeLimits};
use omniassist_core::{LlmEvent, LlmPayload, RunEvent, Text, ToolChoice};
use uuid::Uuid;

use super::agent_records::AgentRecords;
use super::asking::Suspended;
use super::child::{Child, Ended, Work};
use super::ready::{Ready, bit};
use super::shown::keep_latest;
use super::spending::Spending;
use super::waiting::Waiting;
use crate::RunContext;
use crate::cost::{Price, Prices};
use crate::engine::meter::{Meter, estimate};
use crate::seal::Sealer;
use crate::sync::lock;
use crate::telemetry::RunTrace;
use crate::tool::{AgentAsk, InnerCall, ToolError};

/// The most bytes of a report.
const MAX_REPORT: usize = 32 * 1024;

/// The most bytes of a report where a budget is nearly used up.
const SHORT_REPORT: usize = 1024;

/// The bytes of an agent's id that its calls have in theirs.
const SUFFIX: usize = 8;

/// The instruction of a call that no other may follow.
const ANSWER_NOW: &str =
    "Answer now with what you have, and say what is missing. You can call no more tools.";

/// Begins the runs of agents that others ask.
pub(in crate::engine) trait Begin: Send + Sync {
    /// Returns the budget of an agent. `None` if there is no such agent.
    fn budget_of(&self, agent: &str) -> Option<AgentBudget>;

    /// Returns the price of an agent's model, if it is known.
    fn price_of(&self, agent: &str) -> Option<Price>;

    /// Begins the run of an agent for that of another one.
    ///
    /// # Errors
    ///
    /// Returns an error for the model if the run cannot begin.
    fn begin(
        &self,
        asked: AgentQuestion<'_>,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError>;

    /// Begins the run of a call that a tool makes in the name of another one. `asked` has the name of its tool.
    ///
    /// # Errors
    ///
    /// Returns an error for the model if the call cannot be made.
    fn begin_call(
        &self,
        asked: AgentQuestion<'_>,
        call: &InnerCall,
        parent: &RunContext,
        branch: Branch,
    ) -> Result<Box<dyn Work>, ToolError>;
}

/// The question to an agent.
pub(in crate::engine) struct AgentQuestion<'a> {
    pub(in crate::engine) agent: &'a str,
    pub(in crate::engine) task: &'a Text,
    /// The abilities of the client, if the agent may wait for it.
    pub(in crate::engine) abilities: ClientAbilities,
    /// The sealer of an agent that may wait.
    pub(in crate::engine) sealer: Option<Sealer>,
    /// Set if the agent goes on after the client has answered.
    pub(in crate::engine) suspended: Option<Suspended>,
    /// The call whose tool asks.
    pub(in crate::engine) asked_by: &'a Text,
    /// The id of the agent's run.
    pub(in crate::engine) id: Uuid,
    /// The records of an agent that was interrupted. Empty for one that begins, `None` if the run is not stored.
    pub(in crate::engine) journal: Option<Vec<Record>>,
}

/// The part of a tree that its agents share.
pub(super) struct Tree {
    pub(super) begin: Arc<dyn Begin>,
    pub(super) limits: TreeLimits,
    pub(super) ledger: Arc<Mutex<Ledger>>,
}

impl Tree {
    /// Ends the budget of an agent. A call that a tool makes has none.
    pub(super) fn close(&self, node: Option<NodeId>) {
        if let Some(node) = node {
            lock(&self.ledger).close(node);
        }
    }
}

/// The part of a tree of agents that belongs to one of them: its budget, and the agents that work for it.
pub(in crate::engine) struct Branch {
    pub(super) tree: Arc<Tree>,
    pub(super) node: NodeId,
    /// `None` for the agent of the run.
    pub(super) agent_id: Option<Text>,
    pub(super) depth: u32,
    spending: Option<Spending>,
    /// The budget of the host, which the agents spend from too.
    pub(super) meter: Option<Meter>,
    limit: Option<Limit>,
    pub(super) asked: Vec<(Text, Text)>,
    waiting: Waiting,
    pub(super) children: Vec<Option<Child>>,
    pub(super) ready: Arc<Ready>,
    /// The children that were woken and not polled since, and the slot after the last one that was polled.
    pub(super) woken: u64,
    next: usize,
    /// `true` if the node stays open after this run, because the agent goes on.
    pub(super) keeps_node: bool,
    /// Set for the call that a tool makes in the name of another one: the agent whose tool it is, `None` for that of the run.
    pub(super) inner_of: Option<Option<Text>>,
    /// The number of such calls above, with this one.
    pub(super) calls_above: u32,
    /// The abilities of the client. None for an agent that cannot wait.
    pub(super) abilities: ClientAbilities,
    /// `true` if the calls of the agent may be shown among those of the run.
    pub(super) may_wait: bool,
    /// The agents that waited for the user, by the calls that asked them.
    pub(super) suspended: BTreeMap<Text, Suspended>,
    /// The calls of agents that wait for the user, by the calls that asked them.
    questions: Vec<(Text, Vec<RunEvent>)>,
    /// Set for a run that is stored.
    pub(super) journal: Option<Arc<AgentRecords>>,
    /// The agents that were asked before the run was interrupted, and have not been asked again.
    pub(super) restored: Vec<AgentState>,
    /// The children that have records, and those that wait for theirs to be durable.
    pub(super) recording: u64,
    pub(super) gated: u64,
    /// The records of children that have ended.
    pub(super) last_records: Vec<Record>,
    /// The latest states of all agents of the run, in the branch of its root.
    pub(super) agents: Vec<AgentState>,
}

impl Branch {
    /// Creates a tree with its root.
    pub(in crate::engine) fn root(
        begin: Arc<dyn Begin>,
        limits: TreeLimits,
        stored: Option<Arc<AgentRecords>>,
    ) -> Self {
        let ledger = Arc::new(Mutex::new(Ledger::new(limits)));
        let mut branch = Self::new(Arc::new(Tree { begin, limits, ledger }), Ledger::ROOT, None, 0);
        branch.journal = stored;
        branch
    }

    /// Creates the branch of one of several runs of an agent.
    pub(super) fn of_node(tree: Arc<Tree>, node: NodeId, agent_id: Text, depth: u32) -> Self {
        let mut branch = Self::new(tree, node, Some(agent_id), depth);
        branch.keeps_node = true;
        branch
    }

    pub(super) fn new(tree: Arc<Tree>, node: NodeId, agent_id: Option<Text>, depth: u32) -> Self {
        Self {
            tree,
            node,
            agent_id,
            depth,
            spending: None,
            meter: None,
            limit: None,
            asked: Vec::new(),
            waiting: Waiting::new(),
            children: Vec::new(),
            ready: Arc::default(),
            woken: 0,
            next: 0,
            keeps_node: false,
            inner_of: None,
            calls_above: 0,
            abilities: ClientAbilities::none(),
            may_wait: false,
            suspended: BTreeMap::new(),
            questions: Vec::new(),
            journal: None,
            restored: Vec::new(),
            recording: 0,
            gated: 0,
            last_records: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// Keeps the state of an agent, if the event shows one to the client of the run.
    pub(in crate::engine) fn remember(&mut self, event: &RunEvent) {
        let RunEvent::AgentState(state) = event else { return };
        if self.is_asked() {
            return;
        }
        keep_latest(&mut self.agents, AgentState::clone(state));
    }

    /// Returns the latest states of the agents, parents first.
    pub(in crate::engine) fn agents(&self) -> &[AgentState] {
        &self.agents
    }

    /// Sets the abilities of the client, and the agents that go on. Default: an agent cannot wait for the user.
    pub(in crate::engine) fn set_client(
        &mut self,
        abilities: ClientAbilities,
        suspended: BTreeMap<Text, Suspended>,
    ) {
        (self.abilities, self.suspended) = (abilities, suspended);
    }

    /// Returns the end of the ids of the agent's calls, if they may be shown among those of the run.
    pub(in crate::engine) fn call_id_suffix(&self) -> Option<Text> {
        // The end of the id is random.
        let id = self.agent_id.as_ref().filter(|_| self.may_wait || self.is_inner())?;
        id.get(id.len().saturating_sub(SUFFIX)..).map(Text::from)
    }

    /// Returns `true` for a run that another one has asked for.
    pub(in crate::engine) fn is_asked(&self) -> bool {
        self.agent_id.is_some()
    }

    /// Returns `true` for the call that a tool makes in the name of another one.
    pub(in crate::engine) fn is_inner(&self) -> bool {
        self.inner_of.is_some()
    }

    /// Takes the calls that wait for the user of the agent that a call has asked.
    pub(in crate::engine) fn take_questions(&mut self, call_id: &Text) -> Vec<RunEvent> {
        let at = self.questions.iter().position(|(asked_by, _)| asked_by == call_id);
        at.map(|at| self.questions.swap_remove(at).1).unwrap_or_default()
    }

    /// Removes the questions of the inner calls of a call.
    pub(super) fn drop_questions(&mut self, call_id: &Text) {
        self.questions.retain(|(asked_by, _)| asked_by != call_id);
    }

    /// Counts the tokens of the agents that will work for this one for the budget of the host.
    pub(in crate::engine) fn meter_with(&mut self, meter: &Meter) {
        self.meter = Some(meter.clone());
    }

    /// Returns `true` if the depth of the tree allows this agent to ask others.
    pub(in crate::engine) fn may_ask(&self) -> bool {
        lock(&self.tree.ledger).may_ask(self.node)
    }

    /// Returns the limit that allows no other model call.
    pub(in crate::engine) fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Reserves the tokens and the cost of a model call, and limits its output to them.
    ///
    /// # Errors
    ///
    /// Returns the limit that does not allow the call.
    pub(in crate::engine) fn reserve(
        &mut self,
        payload: &mut LlmPayload,
        price: Option<Price>,
    ) -> Result<(), Limit> {
        self.spending = None;
        let reserved = Spending::begin(&self.tree.ledger, self.node, payload, price);
        let spending = reserved.inspect_err(|limit| self.limit = Some(*limit))?;
        if let Some(most) = spending.most().map(|most| u32::try_from(most).unwrap_or(u32::MAX))
            && payload.options.max_output_tokens != Some(most)
        {
            Arc::make_mut(&mut payload.options).max_output_tokens = Some(most);
        }
        // Without tools, each answer is the last one, and a complete one is not what a limit has left.
        if let Some(limit) = spending.last()
            && !payload.tools.is_empty()
        {
            self.limit = Some(limit);
            // A provider may refuse a transcript with calls and no tools, and keeps the prompt that it has in its cache.
            payload.tool_choice = ToolChoice::None;
            let system = payload.system.as_deref().unwrap_or_default();
            payload.system = Some(format!("{system}\n\n{ANSWER_NOW}").trim_start().into());
        }
        self.spending = Some(spending);
        Ok(())
    }

    /// Counts an event of the model. Returns `true` if the model writes more than it may.
    pub(in crate::engine) fn spend(&mut self, event: &LlmEvent, prices: Option<&Prices>) -> bool {
        let over = self.spending.as_mut().and_then(|spending| spending.take(event, prices));
        self.limit = over.or(self.limit);
        over.is_some()
    }

    /// Settles the tokens of the model call.
    pub(in crate::engine) fn settle(&mut self) {
        self.spending = None;
    }

    /// Takes the question of a tool. Returns the event that shows the agent, unless it waits for another one to end.
    pub(in crate::engine) fn ask(
        &mut self,
        ask: AgentAsk,
        run: &RunContext,
        trace: &RunTrace,
        sealer: Option<&Sealer>,
    ) -> Option<RunEvent> {
        if self.has_room() {
            return self.start(ask, run, trace, sealer);
        }
        let is_agent = ask.inner.is_none();
        let check = |waiting: &Waiting| match is_agent {
            true => lock(&self.tree.ledger).check(self.node, waiting.agents()),
            false => Ok(()),
        };
        let mut checked = check(&self.waiting);
        if checked.is_err() {
            self.waiting.remove_closed();
            checked = check(&self.waiting);
        }
        match checked {
            Ok(()) => self.waiting.push(ask),
            // A question that no limit would allow later must not hold memory meanwhile.
            Err(limit) => drop(ask.reply.send(Err(refused(limit)))),
        }
        None
    }

    /// Polls the agents that were woken, in turn, for one event that the client is shown. What an agent has used is added to
    /// the trace of the run.
    pub(in crate::engine) fn poll_event(
        &mut self,
        cx: &Context<'_>,
        run: &RunContext,
        trace: &mut RunTrace,
        sealer: Option<&Sealer>,
    ) -> Poll<RunEvent> {
        if self.children.is_empty() {
            return Poll::Pending;
        }
        self.woken |= self.ready.take(cx);
        loop {
            while self.woken != 0 {
                // The first woken slot from the next one on.
                let slots = u64::BITS as usize;
                let turned = self.woken.rotate_right(u32::try_from(self.next).unwrap_or(0));
                let slot = (turned.trailing_zeros() as usize + self.next) % slots;
                self.next = (slot + 1) % slots;
                let bit = bit(slot);
                let polled = match self.children.get_mut(slot) {
                    Some(Some(child)) => child.poll_event(),
                    _ => Poll::Pending,
                };
                match polled {
                    Poll::Pending => {
                        self.woken &= !bit;
                        if self.journal.is_some()
                            && let Some(Some(child)) = self.children.get(slot)
                            && child.has_records()
                        {
                            self.recording |= bit;
                        }
                    }
                    Poll::Ready(Some(event)) => return Poll::Ready(event),
                    Poll::Ready(None) => {
                        self.woken &= !bit;
                        if let Some(mut child) = self.children.get_mut(slot).and_then(Option::take) {
                            child.take_records(&mut self.last_records);
                            self.recording &= !bit;
                            trace.adopt(child.work.trace());
                            self.tree.close(child.node);
                            let Ended { shown, questions } = child.report(self.room());
                            self.questions.extend(questions);
                            if let Some(shown) = shown {
                                return Poll::Ready(shown);
                            }
                        }
                    }
                }
            }
            // Most often none waits, and the room is counted by a walk over the children.
            if self.waiting.is_empty() || !self.has_room() {
                return Poll::Pending;
            }
            // One that is not needed any more, or refused, makes way for the next.
            if let Some(ask) = self.waiting.pop()
                && let Some(began) = self.start(ask, run, trace, sealer)
            {
                return Poll::Ready(began);
            }
        }
    }

    /// Stops an agent that works for this one, or for one of those. The run must be polled then. Returns `false` if there is
    /// none with this id.
    pub(in crate::engine) fn stop_agent(&mut self, agent_id: &str) -> bool {
        for (slot, child) in self.children.iter_mut().enumerate() {
            let Some(child) = child else { continue };
            let is_found = if child.shown.agent_id() == agent_id {
                child.cancel();
                true
            } else {
                child.work.stop_agent(agent_id)
            };
            if is_found {
                self.woken |= bit(slot);
                return true;
            }
        }
        false
    }

    /// Returns `true` if another agent may work for this one now.
    fn has_room(&self) -> bool {
        self.children.iter().flatten().count() < self.tree.limits.max_parallel()
    }

    /// Ends the agents that were asked by a call, or by all calls, and adds what they have used to the trace of the run.
    /// Returns the events of their ends.
    pub(in crate::engine) fn end(&mut self, call: Option<&Text>, trace: &mut RunTrace) -> Vec<RunEvent> {
        self.waiting.retain(|ask| call.is_some_and(|call| ask.call_id != *call));
        if call.is_none() {
            self.meter = None;
        }
        let mut ends = self.end_restored(call);
        for slot in &mut self.children {
            if let Some(mut child) =
                slot.take_if(|child| call.is_none_or(|call| child.shown.call_id() == call))
            {
                ends.extend(child.stop());
                trace.adopt(child.work.trace());
                self.tree.close(child.node);
                ends.extend(child.report(SHORT_REPORT).shown);
            }
        }
        ends
    }

    /// Adds what the agents at work have used to the trace of the run, which is about to be dropped with them.
    pub(in crate::engine) fn leave(&mut self, trace: &mut RunTrace) {
        for child in self.children.iter_mut().flatten() {
            child.work.leave();
            trace.adopt(child.work.trace());
        }
    }

    /// Returns the bytes of a report that leave room for an answer.
    fn room(&self) -> usize {
        let tokens = lock(&self.tree.ledger).room(self.node);
        let bytes = tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(estimate::BYTES_PER_TOKEN));
        usize::try_from(bytes).unwrap_or(usize::MAX).clamp(SHORT_REPORT, MAX_REPORT)
    }
}

/// Agents end with the one that asked them.
impl Drop for Branch {
    fn drop(&mut self) {
        self.spending = None;
        if !self.keeps_node {
            lock(&self.tree.ledger).close(self.node);
        }
    }
}

/// Returns the error of a question that a limit of the tree does not allow.
pub(super) fn refused(limit: Limit) -> ToolError {
    ToolError::new(format!("The agent was not asked: {limit}."))
}
