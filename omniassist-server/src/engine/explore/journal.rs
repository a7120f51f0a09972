//! The journal of a tree whose session has a stored chat: the states of its agents, and what they write.
//!
//! Agents only note what has changed. A task beside the tree writes it, some times a second, so that no agent waits for the
//! store.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use omniassist_core::agent_tree::{NodeState, Status};
use omniassist_core::event::{AgentState, AgentStatus, RunErrorCode};
use omniassist_core::journal::{Content, Head, Record};
use omniassist_core::{Error, JsonText, RunEvent, Text};
use tokio::time::sleep_until;

use super::tree::{Chat, Nodes, Tree};
use super::unwritten::Unwritten;
use crate::engine::Assistant;
use crate::engine::stored::{Control, TreeEnd, TreeRun};
use crate::store::{ModelUsage, RunHead};
use crate::tool::cap_text;

/// The kind of the data with a whole state.
const STATE: &str = "agent-node";

/// The bytes of a task and of an answer in the states for viewers of the run. The whole state has both.
const SHOWN: usize = 4 * 1024;

/// Begins the run of a tree, and the task that writes its journal.
///
/// # Errors
///
/// Returns an error if the store does not take the run.
pub(super) async fn store(tree: &Arc<Tree>, chat: &Chat) -> Result<(), Error> {
    let (tree, Chat { scope, id }) = (Arc::clone(tree), chat.clone());
    // A client that leaves meanwhile does not keep a run without an end.
    let begun = tokio::spawn(async move {
        let control = Arc::new(TreeControl(Arc::downgrade(&tree)));
        let when_busy = tree.assistant.when_busy(&tree.extensions)?;
        let run = tree.assistant.begin_tree(scope, id, when_busy, control).await?;
        // There is one run.
        let _ = tree.run.set(run.id());
        tree.nodes().unwritten = Some(Unwritten::default());
        tokio::spawn(write(tree, run));
        Ok(())
    });
    begun.await.unwrap_or_else(|_| Err(Error::internal()))
}

/// Reads the states of a tree, parents first. Agents that were at work when their run ended without a word of them are
/// cancelled.
///
/// # Errors
///
/// Returns an error if the store is not available, or the journal cannot be read.
pub(super) async fn read(assistant: &Assistant, head: &RunHead) -> Result<Vec<NodeState>, Error> {
    let mut states = Vec::new();
    for content in assistant.tree_records(head).await? {
        let Content::Event(RunEvent::Data { name, data, .. }) = content else { continue };
        match data.to::<NodeState>() {
            Ok(state) if name == STATE => states.push(state),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(run_id = %head.run, %error, "the state of an agent cannot be read");
            }
        }
    }
    if head.state.is_ended() {
        let at_work = states.iter_mut().filter(|state| !state.status.is_end());
        at_work.for_each(|state| state.status = Status::Cancelled);
    }
    Ok(states)
}

/// Writes the journal of a tree until it has ended.
async fn write(tree: Arc<Tree>, mut run: TreeRun) {
    let (closed, released) = (tree.closed.clone(), run.released());
    let notify = tree.nodes().unwritten.as_ref().map(Unwritten::notify).unwrap_or_default();
    let mut shown = HashMap::new();
    loop {
        tokio::select! {
            () = notify.notified() => {}
            () = closed.cancelled() => {}
            () = released.cancelled() => {}
        }
        tokio::select! {
            () = sleep_until(run.next_flush()) => {}
            () = closed.cancelled() => {}
            () = released.cancelled() => {}
        }
        take(&tree, &mut run, &mut shown);
        if closed.is_cancelled() || released.is_cancelled() {
            break;
        }
        if !run.write().await {
            tracing::info!(run_id = %run.id(), "the run of a tree was taken over or deleted; the tree ends");
            return tree.stop();
        }
    }
    let (end, usage) = {
        let nodes = tree.nodes();
        let end = if closed.is_cancelled() { nodes.end_of_tree() } else { TreeEnd::Interrupted };
        (end, nodes.usage())
    };
    run.settle(end, usage).await;
}

/// Moves what has changed to the journal: agents that have begun, what was written, and the states of now.
fn take(tree: &Tree, run: &mut TreeRun, shown: &mut HashMap<Text, AgentState>) {
    let (states, deltas, used) = tree.nodes().take_unwritten();
    run.count(used);
    for state in &states {
        if shown.contains_key(&state.agent_id) {
            continue;
        }
        let mut begun = shown_state(state);
        (begun.status, begun.text) = (AgentStatus::Running, None);
        shown.insert(state.agent_id.clone(), begun.clone());
        run.take(RunEvent::AgentState(Box::new(begun)));
    }
    deltas.into_iter().for_each(|delta| run.take(delta));
    for state in states {
        let now = shown_state(&state);
        let before = shown.insert(state.agent_id.clone(), now.clone());
        if before.as_ref() != Some(&now) {
            run.take(RunEvent::AgentState(Box::new(now)));
        }
        match JsonText::from_serialize(&state) {
            Ok(data) => run.keep(record(&state.agent_id, data)),
            Err(error) => tracing::error!(%error, "the state of an agent is not in the journal"),
        }
    }
}

/// Returns the record of a whole state. It belongs to the agent, so that viewers of the run are not shown it.
fn record(agent_id: &Text, data: JsonText) -> Record {
    let head = Head::default().with(Head::AGENT, Bytes::copy_from_slice(agent_id.as_bytes()));
    let data = RunEvent::Data { name: Text::from_static(STATE), id: None, data, transient: true };
    Record { head, content: Content::Event(data) }
}

/// Returns a state as the viewers of a run know those of asked agents.
fn shown_state(state: &NodeState) -> AgentState {
    let cut = |text: &Text| if text.len() <= SHOWN { text.clone() } else { cap_text(text, SHOWN).into() };
    let (id, name) = (state.agent_id.clone(), state.metadata.name.clone());
    let mut shown = AgentState::begun(id, name, Text::new(), cut(&state.user_content));
    (shown.parent_id, shown.depth) = (state.parent_id.clone(), state.metadata.depth);
    shown.text = state.result.as_ref().map(cut);
    shown.status = match state.status {
        Status::Completed => AgentStatus::Completed,
        Status::Failed => AgentStatus::Failed,
        Status::Cancelled => AgentStatus::Cancelled,
        Status::WaitingForUser | Status::Paused => AgentStatus::Waiting,
        _ => AgentStatus::Running,
    };
    shown
}

impl Tree {
    /// Ends all agents.
    fn stop(&self) {
        let mut nodes = self.nodes();
        nodes.is_stopped = true;
        if let Some(root) = nodes.root() {
            let ids = nodes.below(&root);
            nodes.cancel(&ids);
        }
    }

    /// Ends the root if the tree was stopped before it began.
    pub(super) fn stop_if_asked(&self, root: &Text) {
        let mut nodes = self.nodes();
        if nodes.is_stopped {
            nodes.cancel(std::slice::from_ref(root));
        }
    }
}

impl Nodes {
    /// Takes the states that have changed, parents first, what was written, and the model calls.
    fn take_unwritten(&mut self) -> (Vec<NodeState>, Vec<RunEvent>, Vec<ModelUsage>) {
        let Some(unwritten) = &mut self.unwritten else { return Default::default() };
        let (changed, deltas, used) = unwritten.take();
        self.unpark();
        (self.states_of(|id| changed.contains(id)), deltas, used)
    }

    fn end_of_tree(&self) -> TreeEnd {
        let status = self.root().and_then(|root| Some(self.get(&root)?.state.status));
        match (status, self.failure) {
            (_, Some(RunErrorCode::ServerShutdown)) => TreeEnd::Interrupted,
            (Some(Status::Completed), _) => TreeEnd::Finished,
            (Some(Status::Failed), failure) => TreeEnd::Failed(failure.unwrap_or(RunErrorCode::Internal)),
            _ => TreeEnd::Stopped,
        }
    }
}

/// The control of a tree by those who stop its run, or one of its agents.
struct TreeControl(Weak<Tree>);

impl Control for TreeControl {
    fn abort(&self, _reason: Text) {
        if let Some(tree) = self.0.upgrade() {
            tree.stop();
        }
    }

    fn stop_agent(&self, agent_id: &str) -> bool {
        let Some(tree) = self.0.upgrade() else { return false };
        let mut nodes = tree.nodes();
        let id = nodes.get(agent_id).filter(|node| !node.is_asked && !node.state.status.is_end());
        let Some(id) = id.map(|node| node.state.agent_id.clone()) else { return false };
        let ids = nodes.below(&id);
        nodes.cancel(&ids);
        true
    }
}
