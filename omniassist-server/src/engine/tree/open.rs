//! The beginning of the agents that work for another one, and of the calls that tools make.

use std::sync::Arc;
use std::time::Duration;

use omniassist_core::journal::Record;
use omniassist_core::run::ClientAbilities;
use omniassist_core::tree::NodeId;
use omniassist_core::{RunEvent, Text};

use super::asking::{Asking, Suspended};
use super::branch::{AgentQuestion, Branch, refused};
use super::child::{Child, Work};
use super::inner::state_event;
use super::ready::bit;
use super::shown::ShownAgent;
use crate::RunContext;
use crate::seal::Sealer;
use crate::sync::lock;
use crate::telemetry::RunTrace;
use crate::tool::{AgentAsk, InnerCall, ToolError};

/// The number of times that an agent asks the same question.
const REPEATS: usize = 2;

/// The time of a call that a tool makes. Its own tool has a time, and so has the tool that makes it.
const MAX_CALL_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The most calls that tools make within each other. Each is polled within the one that makes it.
const MAX_CALL_DEPTH: u32 = 16;

/// An agent whose run has begun.
struct Opened {
    node: Option<NodeId>,
    work: Box<dyn Work>,
    shown: ShownAgent,
    longest: Duration,
    asking: Option<Box<Asking>>,
    journal: Option<Vec<Record>>,
}

/// The place of an agent in the tree, or of the call of a tool, which has no budget.
struct Place {
    node: Option<NodeId>,
    longest: Duration,
    suspended: Option<Suspended>,
}

impl Branch {
    /// Begins the agent of a question. Returns the event that shows it.
    pub(super) fn start(
        &mut self,
        ask: AgentAsk,
        run: &RunContext,
        trace: &RunTrace,
        sealer: Option<&Sealer>,
    ) -> Option<RunEvent> {
        if ask.reply.is_closed() {
            return None;
        }
        match trace.enter_scope(|| self.open(&ask, run, sealer)) {
            Ok(Opened { node, work, shown, longest, asking, journal }) => {
                let began = shown.began();
                let slot = self.children.iter().position(Option::is_none).unwrap_or(self.children.len());
                let waker = self.ready.waker(slot);
                let is_beside = ask.inner.as_ref().is_some_and(|call| call.is_beside);
                if is_beside {
                    self.forbid_beside(&ask.call_id);
                }
                let mut child = Child::new(node, work, shown, ask.reply, longest, waker, asking);
                if is_beside {
                    child.forbid_beside();
                }
                if let Some(earlier) = journal {
                    child.store_after(earlier);
                }
                if let Some(call) = &ask.inner {
                    child.keep(&state_event(call));
                }
                match self.children.get_mut(slot) {
                    Some(free) => *free = Some(child),
                    None => self.children.push(Some(child)),
                }
                self.woken |= bit(slot);
                began
            }
            Err(error) => {
                // The tool may have ended meanwhile.
                drop(ask.reply.send(Err(error)));
                None
            }
        }
    }

    fn open(
        &mut self,
        ask: &AgentAsk,
        run: &RunContext,
        sealer: Option<&Sealer>,
    ) -> Result<Opened, ToolError> {
        let AgentAsk { agent, task, call_id: asked_by, inner, .. } = ask;
        let Place { node, longest, suspended } = match inner {
            Some(call) => self.place_of_call(agent, asked_by, call)?,
            None => self.place_of_agent(ask)?,
        };
        // Only a call that does nothing else is made again, so the others write no records.
        let agents = self.journal.clone().filter(|_| ask.may_wait);
        let id = agents.as_ref().filter(|_| inner.is_none()).and_then(|_| self.take_restored(asked_by));
        let id = id.or_else(|| suspended.as_ref().map(|suspended| suspended.agent_id.clone()));
        let journal = agents.as_ref().map(|agents| id.as_ref().map(|id| agents.of(id)).unwrap_or_default());
        let depth = self.depth + u32::from(inner.is_none());
        let shown = ShownAgent::new(ask, id, self.shown_id(), depth);
        let (tree, id) = (Arc::clone(&self.tree), shown.agent_id().clone());
        let mut branch = Self::new(tree, node.unwrap_or(self.node), Some(id), depth);
        branch.calls_above = self.calls_above + u32::from(inner.is_some());
        if inner.is_some() {
            branch.keeps_node = true;
            branch.inner_of = Some(self.shown_id());
        }
        let can_answer = self.abilities.approvals || self.abilities.forms || self.abilities.front_end_tools;
        let sealer = sealer.filter(|_| ask.may_wait && can_answer);
        let sealer = sealer.map(|sealer| sealer.for_asked(asked_by));
        branch.may_wait = sealer.is_some();
        branch.journal = agents;
        let asking = (sealer.is_some() || inner.is_some()).then(|| {
            let continued = suspended.as_ref().map(|suspended| &suspended.message);
            let sealer = sealer.as_ref().map(|sealer| sealer.for_asked(asked_by));
            Box::new(Asking::new(sealer, ask.call.clone(), continued, branch.journal.is_some()))
        });
        let abilities = if sealer.is_some() { self.abilities } else { ClientAbilities::none() };
        let id = shown.run_id();
        let asked = AgentQuestion {
            agent,
            task,
            abilities,
            sealer,
            suspended,
            asked_by,
            id,
            journal: journal.clone(),
        };
        let begin = &self.tree.begin;
        let work = match inner {
            Some(call) => begin.begin_call(asked, call, run, branch),
            None => begin.begin(asked, run, branch),
        };
        let mut work = work.inspect_err(|_| self.tree.close(node))?;
        if let Some(meter) = &self.meter {
            work.meter_with(meter.clone());
        }
        Ok(Opened { node, work, shown, longest, asking, journal })
    }

    fn place_of_agent(&mut self, ask: &AgentAsk) -> Result<Place, ToolError> {
        let AgentAsk { agent, task, .. } = ask;
        let budget = self.tree.begin.budget_of(agent);
        let budget = budget.ok_or_else(|| ToolError::new(format!("There is no agent {agent:?}.")))?;
        let question = (agent.clone(), task.clone());
        if self.asked.iter().filter(|asked| **asked == question).count() >= REPEATS {
            return Err(ToolError::new("This agent was asked the same before. Use its report."));
        }
        let node = lock(&self.tree.ledger).open(self.node, budget).map_err(refused)?;
        self.asked.push(question);
        let suspended = if ask.may_wait { self.suspended.remove(&ask.call_id) } else { None };
        Ok(Place { node: Some(node), longest: budget.max_time(), suspended })
    }

    fn place_of_call(&mut self, name: &Text, asked_by: &Text, call: &InnerCall) -> Result<Place, ToolError> {
        if self.calls_above >= MAX_CALL_DEPTH {
            let reason = format!(
                "Tools call each other more than {MAX_CALL_DEPTH} levels deep; this call was not made."
            );
            return Err(ToolError::new(reason));
        }
        let suspended = self.take_suspended_call(asked_by, name, call);
        Ok(Place { node: None, longest: MAX_CALL_TIME, suspended })
    }

    /// Keeps the inner calls of a call from waiting for the user, also one that waits already.
    fn forbid_beside(&mut self, call_id: &Text) {
        self.drop_questions(call_id);
        let children = self.children.iter_mut().flatten();
        children
            .filter(|child| child.shown.is_inner() && child.shown.call_id() == call_id)
            .for_each(Child::forbid_beside);
    }

    /// Returns the id under which the client knows the agent of this branch.
    fn shown_id(&self) -> Option<Text> {
        match &self.inner_of {
            Some(agent) => agent.clone(),
            None => self.agent_id.clone(),
        }
    }
}
