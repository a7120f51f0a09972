//! The journal of a tree whose session has a stored chat: the states of its agents, and what they write.
//!
//! Agents only note what has changed. A task beside the tree writes it, some times a second, so that no agent waits for the
//! store while it works.

use std::sync::{Arc, Weak};

use omniassist_core::agent_tree::{NodeState, Status};
use omniassist_core::event::RunErrorCode;
use omniassist_core::journal::Content;
use omniassist_core::{Error, RunEvent, Text};
use tokio::time::{sleep, sleep_until};

use super::tree::{Chat, Nodes, Tree};
use super::unwritten::Unwritten;
use super::written::{REWRITE, STATE, Written};
use crate::engine::Assistant;
use crate::engine::stored::{TreeEnd, TreeRun};
use crate::engine::stores::Control;
use crate::engine::stores::answers::Answer;
use crate::store::{ModelUsage, RunHead};

/// States, what was written, and model calls.
type Unwrote = (Vec<NodeState>, Vec<RunEvent>, Vec<ModelUsage>);

/// Begins the run of a tree, and the task that writes its journal.
///
/// # Errors
///
/// Returns an error if the store does not take the run.
pub(super) async fn store(tree: &Arc<Tree>, chat: &Chat) -> Result<(), Error> {
    let stores = tree.assistant.stores().ok_or_else(Error::internal)?;
    let (tree, Chat { scope, id }) = (Arc::clone(tree), chat.clone());
    // A client that leaves meanwhile does not keep a run without an end.
    let begun = stores.spawn(async move {
        let control = Arc::new(TreeControl(Arc::downgrade(&tree)));
        let when_busy = tree.assistant.when_busy(&tree.extensions)?;
        let run = tree.assistant.begin_tree(scope, id, when_busy, control, &tree.closed).await?;
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
        at_work.for_each(|state| (state.status, state.queries) = (Status::Cancelled, Vec::new()));
    }
    Ok(states)
}

/// Writes the journal of a tree until it has ended.
async fn write(tree: Arc<Tree>, mut run: TreeRun) {
    let (closed, released) = (tree.closed.clone(), run.released());
    let notify = tree.nodes().unwritten.as_ref().map(Unwritten::notify).unwrap_or_default();
    let mut written = Written::new(tree.assistant.limits().max_written_state_bytes);
    let mut waits = false;
    loop {
        tokio::select! {
            () = notify.notified() => {}
            () = sleep(REWRITE), if waits => {}
            () = closed.cancelled() => {}
            () = released.cancelled() => {}
        }
        tokio::select! {
            () = sleep_until(run.next_flush()) => {}
            () = closed.cancelled() => {}
            () = released.cancelled() => {}
        }
        let is_last = closed.is_cancelled() || released.is_cancelled();
        waits = take(&tree, &mut run, &mut written, is_last);
        if is_last {
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

/// Moves what has changed to the journal: agents that have begun, what was written, and the states that are due. Returns
/// `true` if there are others.
fn take(tree: &Tree, run: &mut TreeRun, written: &mut Written, is_last: bool) -> bool {
    let ((states, deltas, used), waits) = {
        let mut nodes = tree.nodes();
        let taken = nodes.take_unwritten(|state, has_changed| match is_last {
            true => has_changed || !written.has_whole(state),
            false => has_changed && written.is_due(state),
        });
        (taken, nodes.unwritten.as_ref().is_some_and(|unwritten| !unwritten.changed.is_empty()))
    };
    run.count(used);
    states.iter().filter_map(|state| written.begin(state)).for_each(|begun| run.take(begun));
    deltas.into_iter().for_each(|delta| run.take(delta));
    for state in &states {
        if let Some(shown) = written.show(state) {
            run.take(shown);
        }
        if let Some(record) = written.record(state, is_last) {
            run.keep(record);
        }
    }
    waits
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
    /// Takes the states that are due, parents first, what was written, and the model calls. `is_due` gets a state, and `true`
    /// if it has changed.
    fn take_unwritten(&mut self, is_due: impl Fn(&NodeState, bool) -> bool) -> Unwrote {
        let Some(unwritten) = &mut self.unwritten else { return Default::default() };
        let (mut changed, deltas, used) = unwritten.take();
        let states = self.states_of(|state| is_due(state, changed.contains(&state.agent_id)));
        for state in &states {
            changed.remove(&state.agent_id);
        }
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.changed = changed;
        }
        self.unpark();
        (states, deltas, used)
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

    fn answer(&self, query_id: &str, answer: Answer) -> bool {
        self.0.upgrade().is_some_and(|tree| tree.answer_call(query_id, answer))
    }
}
