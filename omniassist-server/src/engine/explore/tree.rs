use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll, Waker};

use http::Extensions;
use omniassist_core::agent_tree::{CoreMessage, NodeState, ServerFrame, Status};
use omniassist_core::event::RunErrorCode;
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Text, Usage};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::node::{Node, Note};
use super::outbox::Outbox;
use super::query::QueryUser;
use super::unwritten::Unwritten;
use crate::CancellationToken;
use crate::clock::now_ms;
use crate::engine::Assistant;
use crate::engine::meter::Meter;
use crate::engine::settings::Explore;
use crate::store::{ModelUsage, RunId, Scope};
use crate::sync::lock;

/// A tree of agents: what its agents share.
pub(super) struct Tree {
    pub(super) assistant: Assistant,
    pub(super) extensions: Extensions,
    pub(super) settings: Explore,
    pub(super) handler: Option<Arc<dyn QueryUser>>,
    /// The abilities of the client, for the calls of tools.
    pub(super) abilities: ClientAbilities,
    pub(super) meter: Mutex<Option<Meter>>,
    nodes: Mutex<Nodes>,
    /// The stored chat of the tree.
    pub(super) chat: Option<Chat>,
    /// The run of a tree that is stored.
    pub(super) run: OnceLock<RunId>,
    /// Cancelled when the tree has ended.
    pub(super) closed: CancellationToken,
}

/// A stored chat, of which a tree is a run.
#[derive(Debug, Clone)]
pub(super) struct Chat {
    pub(super) scope: Scope,
    pub(super) id: Text,
}

#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// The ids in the order of creation, so parents first.
    order: Vec<Text>,
    by_id: HashMap<Text, Node>,
    outbox: Outbox,
    /// The agents that wait until frames were read, or text was written.
    parked: Vec<Waker>,
    /// The reader of the frames.
    reader: Option<Waker>,
    usage: Usage,
    /// The changes that the journal does not have yet. `None` for a tree that is not stored.
    pub(super) unwritten: Option<Unwritten>,
    /// `true` if the tree was stopped, perhaps before its root began.
    pub(super) is_stopped: bool,
    /// The error with which the root has ended.
    pub(super) failure: Option<RunErrorCode>,
}

impl Tree {
    pub(super) fn new(
        assistant: Assistant,
        extensions: Extensions,
        settings: Explore,
        handler: Option<Arc<dyn QueryUser>>,
        abilities: ClientAbilities,
        chat: Option<Chat>,
    ) -> Self {
        let (meter, nodes, closed) = (Mutex::default(), Mutex::default(), CancellationToken::new());
        let run = OnceLock::new();
        Self { assistant, extensions, settings, handler, abilities, meter, nodes, chat, run, closed }
    }

    pub(super) fn nodes(&self) -> MutexGuard<'_, Nodes> {
        lock(&self.nodes)
    }

    /// Adds an agent that follows the program, and shows it.
    pub(super) fn begin(&self, id: Text, parent: Option<Text>, depth: u32, task: Text, status: Status) {
        let mut state = NodeState::begun(id, parent, task.clone(), now_ms());
        state.status = status;
        state.metadata.depth = depth;
        state.metadata.step = 1;
        state.metadata.name = Text::from_static("explore");
        let mut node = Node::new(state, false);
        // A long task is in the state only once.
        node.say(CoreMessage::User(task));
        self.nodes().add(node);
    }

    /// Takes the next frame. Agents that wait for room go on when there is none.
    pub(super) fn poll_frame(&self, cx: &Context<'_>) -> Poll<ServerFrame> {
        let mut nodes = self.nodes();
        match nodes.outbox.pop() {
            Some(frame) => Poll::Ready(frame),
            None => {
                nodes.unpark();
                nodes.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits until the frames and the text that wait leave room for more.
    pub(super) async fn room(&self) {
        std::future::poll_fn(|cx| {
            let mut nodes = self.nodes();
            if nodes.has_room() {
                return Poll::Ready(());
            }
            nodes.parked.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Adds a question, and shows it. Returns the id of the question, and its answer.
    pub(super) fn open_query(&self, id: &Text, prompt: &Text) -> (Text, oneshot::Receiver<Text>) {
        let query_id = Text::from(Uuid::now_v7().to_string());
        let (reply, answer) = oneshot::channel();
        let mut nodes = self.nodes();
        if let Some(node) = nodes.by_id.get_mut(id) {
            node.queries.push_back(reply);
        }
        nodes.set_status(id, Status::WaitingForUser);
        if self.handler.is_none() {
            let (agent_id, query_id) = (id.clone(), Some(query_id.clone()));
            nodes.push(ServerFrame::UserQuery { agent_id, prompt: prompt.clone(), query_id, call: None });
        }
        (query_id, answer)
    }

    /// Ends a question. `answer` is that of the user, if there is one.
    pub(super) fn close_query(&self, id: &Text, query_id: &Text, question: Text, answer: Option<Text>) {
        let mut nodes = self.nodes();
        nodes.close_query(query_id);
        if let Some(node) = nodes.by_id.get_mut(id) {
            node.queries.retain(|query| !query.is_closed());
            let answer = answer.unwrap_or_else(|| Text::from_static("(no answer)"));
            node.notes.push(Note::Answer { question, answer });
        }
        nodes.set_status(id, Status::Running);
    }
}

impl Nodes {
    pub(super) fn add(&mut self, node: Node) {
        let state = node.state.clone();
        if let Some(parent) = state.parent_id.as_ref().and_then(|parent| self.by_id.get_mut(parent)) {
            parent.state.subagents.push(state.agent_id.clone());
        }
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.changed(state.parent_id.iter().chain([&state.agent_id]));
        }
        self.order.push(state.agent_id.clone());
        self.by_id.insert(state.agent_id.clone(), node);
        self.push(ServerFrame::state(state));
    }

    pub(super) fn get(&self, id: &str) -> Option<&Node> {
        self.by_id.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Node> {
        self.by_id.get_mut(id)
    }

    pub(super) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.by_id.values_mut()
    }

    /// Removes the frame of a question that needs no answer any more.
    pub(super) fn close_query(&mut self, query_id: &Text) {
        self.outbox.close_query(query_id);
    }

    /// Returns the id of the root, once it has begun.
    pub(super) fn root(&self) -> Option<Text> {
        self.order.first().cloned()
    }

    /// Returns the states of all agents, parents first.
    pub(super) fn states(&self) -> Vec<NodeState> {
        self.states_of(|_| true)
    }

    /// Returns some states, parents first.
    pub(super) fn states_of(&self, is_wanted: impl Fn(&NodeState) -> bool) -> Vec<NodeState> {
        let states = self.order.iter().filter_map(|id| Some(&self.by_id.get(id)?.state));
        states.filter(|state| is_wanted(state)).cloned().collect()
    }

    /// Returns an agent and all below it, parents first.
    pub(super) fn below(&self, id: &Text) -> Vec<Text> {
        let mut found = vec![id.clone()];
        let mut at = 0;
        while let Some(next) = found.get(at).and_then(|id| self.by_id.get(id)) {
            found.extend(next.state.subagents.iter().cloned());
            at += 1;
        }
        found
    }

    pub(super) fn push(&mut self, frame: ServerFrame) {
        self.outbox.push(frame);
        self.wake_reader();
    }

    /// Shows a piece of text.
    pub(super) fn delta(&mut self, id: &Text, delta: Text) {
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.delta(id, &delta);
        }
        self.outbox.delta(id, delta);
        self.wake_reader();
    }

    /// Shows the present state of an agent.
    pub(super) fn show(&mut self, id: &str) {
        if let Some(node) = self.by_id.get(id) {
            if let Some(unwritten) = &mut self.unwritten {
                unwritten.changed([&node.state.agent_id]);
            }
            self.outbox.state(node.state.clone());
            self.wake_reader();
        }
    }

    fn has_room(&self) -> bool {
        self.outbox.has_room() && self.unwritten.as_ref().is_none_or(Unwritten::has_room)
    }

    /// Wakes the agents that wait for room, if there is some.
    pub(super) fn unpark(&mut self) {
        if self.has_room() {
            self.parked.drain(..).for_each(Waker::wake);
        }
    }

    fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Changes the state of an agent that works, and shows it.
    pub(super) fn set_status(&mut self, id: &str, status: Status) {
        let Some(node) = self.by_id.get_mut(id) else { return };
        if node.state.status == status || node.state.status.is_end() {
            return;
        }
        node.state.status = status;
        self.show(id);
    }

    pub(super) fn set_step(&mut self, id: &str, step: u8) {
        let Some(node) = self.by_id.get_mut(id) else { return };
        if node.state.metadata.step != step {
            node.state.metadata.step = step;
            self.show(id);
        }
    }

    /// Ends an agent with its answer.
    pub(super) fn end(&mut self, id: &str, status: Status, result: Option<Text>) {
        if let Some(node) = self.by_id.get_mut(id).filter(|node| !node.state.status.is_end()) {
            node.state.result = result;
            node.queries.clear();
            node.calls.clear();
            node.state.queries = Vec::new();
            // An agent that has ended reads nothing more.
            node.notes = Vec::new();
        }
        self.set_status(id, status);
    }

    /// Ends an agent and all below it that still work, at the wish of the user.
    pub(super) fn cancel(&mut self, ids: &[Text]) {
        for id in ids {
            self.end(id, Status::Cancelled, None);
            if let Some(node) = self.by_id.get_mut(id) {
                node.wake();
            }
        }
    }

    /// Counts the model calls of a run that has ended.
    pub(super) fn count(&mut self, usage: &Usage, used: Vec<ModelUsage>) {
        self.usage.add(usage);
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.used.extend(used);
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_has_ended_keeps_no_remarks() {
        let mut nodes = Nodes::default();
        nodes.add(Node::new(NodeState::begun("a".into(), None, "task".into(), 0), false));
        let notes = |nodes: &mut Nodes| nodes.get_mut("a").map(|node| node.notes.capacity());
        nodes.get_mut("a").unwrap().remark("Only red ones".into());
        assert_ne!(notes(&mut nodes), Some(0));
        nodes.end("a", Status::Completed, None);
        assert_eq!(notes(&mut nodes), Some(0));
    }
}
