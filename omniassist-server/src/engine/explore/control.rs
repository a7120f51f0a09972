//! The changes of agents by their user, as the agents notice them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

use omniassist_core::Text;
use omniassist_core::agent_tree::Status;

use super::tree::Tree;

impl Tree {
    /// Waits while the user has paused an agent.
    pub(super) async fn gate(&self, id: &Text) {
        poll_fn(|cx| {
            let mut nodes = self.nodes();
            let Some(node) = nodes.get_mut(id) else { return Poll::Ready(()) };
            if node.is_paused {
                node.watch(cx);
                nodes.set_status(id, Status::Paused);
                return Poll::Pending;
            }
            if node.state.status == Status::Paused {
                nodes.set_status(id, Status::Running);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Returns `true` if the user wants the answer of an agent now, and wakes this task when that happens.
    pub(super) fn must_answer(&self, id: &Text, cx: Option<&Context<'_>>) -> bool {
        let mut nodes = self.nodes();
        let Some(node) = nodes.get_mut(id) else { return false };
        if let Some(cx) = cx {
            node.watch(cx);
        }
        node.has_to_answer
    }

    /// Waits until the user wants the answer of an agent now.
    pub(super) async fn wished_to_answer(&self, id: &Text) {
        poll_fn(|cx| match self.must_answer(id, Some(cx)) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Returns `true` if the task or a remark of an agent came after its last model call.
    pub(super) fn has_changed(&self, id: &Text) -> bool {
        self.nodes().get(id).is_some_and(|node| node.has_changed)
    }

    /// Drives an agent until it is done, or until the user cancels it: `None`.
    pub(super) async fn unless_cancelled<T>(&self, id: &Text, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            {
                let mut nodes = self.nodes();
                let Some(node) = nodes.get_mut(id) else { return Poll::Ready(None) };
                if node.state.status == Status::Cancelled {
                    return Poll::Ready(None);
                }
                node.watch(cx);
            }
            work.as_mut().poll(cx).map(Some)
        })
        .await
    }
}
