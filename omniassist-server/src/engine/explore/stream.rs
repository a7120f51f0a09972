use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use omniassist_core::agent_tree::{ServerFrame, Status};
use omniassist_core::event::RunErrorCode;
use omniassist_core::{RunRequest, Text};
use tokio::time::sleep;

use super::journal::store;
use super::program::explore;
use super::tree::Tree;
use crate::Principal;
use crate::engine::WhenBusy;
use crate::engine::tree::LedgerNode;
use crate::panics;
use crate::sync::lock;

/// The frames of a tree of agents. The stream ends when all agents have ended. Dropping it ends them: the connections to
/// the provider close and the cancellation tokens of the tools fire.
///
/// A tree ends with the error `timeout` after the sum of [`run_timeout`](crate::core::Limits::run_timeout),
/// [`write_timeout`](crate::core::Limits::write_timeout) and
/// [`tool_cancel_grace`](crate::core::Limits::tool_cancel_grace), pauses and open questions included.
#[must_use = "agents do nothing unless their stream is polled"]
pub struct AgentStream {
    tree: Arc<Tree>,
    /// `None` at the end.
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl AgentStream {
    pub(super) fn new(tree: Arc<Tree>, work: Pin<Box<dyn Future<Output = ()> + Send>>) -> Self {
        Self { tree, work: Some(work) }
    }
}

/// Admits the tree as one run, and drives its root.
pub(super) async fn run(tree: Arc<Tree>, id: Text, prompt: Text) {
    let assistant = tree.assistant.clone();
    let _working = assistant.live.trees.token();
    let mut extensions = tree.extensions.clone();
    let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
    let request = RunRequest::prompt(prompt.clone());
    let admitted = assistant.admit(&request, &mut extensions, &principal, WhenBusy::Supersede, None).await;
    let admission = match admitted {
        Ok(admission) => admission,
        Err(refusal) => {
            assistant.report_refused(&principal, None, &refusal);
            let frame = ServerFrame::error(refusal.code().as_str(), refusal.to_string());
            return tree.nodes().push(frame);
        }
    };
    // The slot is held until the tree ends.
    let _slot = admission.run;
    *lock(&tree.meter) = admission.meter;
    let _metered = Metered(&tree);
    if let Some(chat) = &tree.chat
        && let Err(refusal) = store(&tree, chat).await
    {
        assistant.report_refused(&principal, Some(&chat.id), &refusal);
        let frame = ServerFrame::error(refusal.code().as_str(), refusal.to_string());
        return tree.nodes().push(frame);
    }
    let node = LedgerNode::root(Arc::new(assistant.clone()), assistant.setup.config.tree, id.clone());
    tree.begin(id.clone(), None, 0, prompt, Status::Running);
    tree.stop_if_asked(&id);
    tokio::select! {
        () = explore(Arc::clone(&tree), node) => {}
        () = assistant.live.ending.cancelled() => fail(&tree, &id, RunErrorCode::ServerShutdown),
        () = sleep(assistant.setup.config.longest_run()) => fail(&tree, &id, RunErrorCode::Timeout),
    }
}

/// The meter of a tree, whose session outlives it. Dropping this releases what is reserved for a next model call.
struct Metered<'a>(&'a Tree);

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        let meter = lock(&self.0.meter).take();
        // It calls the budget of the host, which must not happen under the lock.
        drop(meter);
    }
}

/// Ends all agents, with an error of the root.
fn fail(tree: &Tree, root: &Text, code: RunErrorCode) {
    let mut nodes = tree.nodes();
    for id in nodes.below(root) {
        nodes.end(&id, Status::Failed, None);
    }
    nodes.failure = Some(code);
    let (error, code) = (Text::from_static(code.safe_message()), Some(Text::from_static(code.as_str())));
    nodes.push(ServerFrame::Error { error, code, agent_id: Some(root.clone()) });
}

impl Stream for AgentStream {
    type Item = ServerFrame;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerFrame>> {
        loop {
            if let Poll::Ready(frame) = self.tree.poll_frame(cx) {
                return Poll::Ready(Some(frame));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            match panics::catch("a tree of agents", || work.as_mut().poll(cx)) {
                Some(Poll::Pending) => {
                    return match self.tree.poll_frame(cx) {
                        Poll::Ready(frame) => Poll::Ready(Some(frame)),
                        Poll::Pending => Poll::Pending,
                    };
                }
                Some(Poll::Ready(())) => {
                    self.work = None;
                    self.tree.closed.cancel();
                }
                None => {
                    self.work = None;
                    let root = self.tree.nodes().root();
                    if let Some(root) = root {
                        fail(&self.tree, &root, RunErrorCode::Internal);
                    }
                    self.tree.closed.cancel();
                }
            }
        }
    }
}

/// The states stay, so agents that were at work are cancelled in them.
impl Drop for AgentStream {
    fn drop(&mut self) {
        self.work = None;
        let mut nodes = self.tree.nodes();
        if let Some(root) = nodes.root() {
            let ids = nodes.below(&root);
            nodes.cancel(&ids);
        }
        drop(nodes);
        self.tree.closed.cancel();
    }
}

impl fmt::Debug for AgentStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentStream").finish_non_exhaustive()
    }
}
