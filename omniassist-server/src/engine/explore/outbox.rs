use std::collections::VecDeque;

use omniassist_core::Text;
use omniassist_core::agent_tree::{CoreMessage, NodeState, OpenQuery, ServerFrame};

/// The frames, and their bytes, that may wait for their reader before the agents wait too.
const FRAMES: usize = 64;
const BYTES: usize = 256 * 1024;

/// The most bytes of text in one frame.
const DELTA: usize = 16 * 1024;

/// The frames of a tree that wait for their reader. An agent has at most its first state and the newest of each step among
/// them, and what it writes is joined.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    frames: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    frame: ServerFrame,
    bytes: usize,
    /// `true` for a state that a later one replaces.
    gives_way: bool,
}

impl Outbox {
    pub(super) fn push(&mut self, frame: ServerFrame) {
        self.put(frame, false);
    }

    /// Adds a state, in place of one of the same agent and step that waits. The first one of an agent is pushed, and stays:
    /// clients learn of parents before their children.
    pub(super) fn state(&mut self, state: NodeState) {
        let is_before = |waiting: &Waiting| match &waiting.frame {
            ServerFrame::AgentState { agent_id, state: before } => {
                waiting.gives_way
                    && *agent_id == state.agent_id
                    && before.metadata.step == state.metadata.step
            }
            _ => false,
        };
        if let Some(before) = self.frames.iter().position(is_before) {
            self.bytes -= self.frames.remove(before).map_or(0, |waiting| waiting.bytes);
        }
        self.put(ServerFrame::state(state), true);
    }

    /// Adds a piece of text. It joins the text of the same agent that waits, if no other frame of that agent came between.
    pub(super) fn delta(&mut self, id: &Text, delta: Text) {
        let of_agent = |waiting: &&mut Waiting| agent_of(&waiting.frame) == Some(id);
        if let Some(waiting) = self.frames.iter_mut().rev().find(of_agent)
            && let ServerFrame::TextDelta { delta: before, .. } = &mut waiting.frame
            && before.len() + delta.len() <= DELTA
        {
            *before = [before.as_str(), &delta].concat().into();
            waiting.bytes += delta.len();
            self.bytes += delta.len();
            return;
        }
        self.put(ServerFrame::TextDelta { agent_id: id.clone(), delta }, false);
    }

    /// Removes a question that needs no answer any more.
    pub(super) fn close_query(&mut self, id: &Text) {
        let is_closed = |frame: &ServerFrame| matches!(frame, ServerFrame::UserQuery { query_id, .. } if query_id.as_ref() == Some(id));
        if let Some(closed) = self.frames.iter().position(|waiting| is_closed(&waiting.frame)) {
            self.bytes -= self.frames.remove(closed).map_or(0, |waiting| waiting.bytes);
        }
    }

    pub(super) fn pop(&mut self) -> Option<ServerFrame> {
        let waiting = self.frames.pop_front()?;
        self.bytes -= waiting.bytes;
        Some(waiting.frame)
    }

    /// Returns `true` if the agents need not wait for the reader.
    pub(super) fn has_room(&self) -> bool {
        self.frames.len() < FRAMES && self.bytes < BYTES
    }

    fn put(&mut self, frame: ServerFrame, gives_way: bool) {
        let bytes = size(&frame);
        self.bytes += bytes;
        self.frames.push_back(Waiting { frame, bytes, gives_way });
    }
}

fn agent_of(frame: &ServerFrame) -> Option<&Text> {
    match frame {
        ServerFrame::AgentState { agent_id, .. }
        | ServerFrame::TextDelta { agent_id, .. }
        | ServerFrame::UserQuery { agent_id, .. } => Some(agent_id),
        _ => None,
    }
}

/// Returns about the number of bytes of a frame.
fn size(frame: &ServerFrame) -> usize {
    let optional = |text: &Option<Text>| text.as_ref().map_or(0, |text| text.len());
    match frame {
        ServerFrame::AgentState { state, .. } => {
            let NodeState { user_content, user_comment, result, messages, queries, .. } = &**state;
            let messages: usize = messages.iter().map(CoreMessage::size).sum();
            let queries: usize = queries.iter().map(OpenQuery::size).sum();
            user_content.len() + optional(user_comment) + optional(result) + messages + queries
        }
        ServerFrame::TextDelta { delta, .. } => delta.len(),
        ServerFrame::UserQuery { prompt, call, .. } => {
            prompt.len() + call.as_ref().map_or(0, |call| call.size())
        }
        ServerFrame::AgentCompleted { result, .. } => optional(result),
        ServerFrame::Error { error, .. } => error.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use omniassist_core::agent_tree::Status;

    use super::*;

    fn state(id: &str, status: Status) -> NodeState {
        let mut state = NodeState::begun(id.into(), None, "task".into(), 0);
        state.status = status;
        state
    }

    fn shown(outbox: &mut Outbox) -> Vec<String> {
        let frames = std::iter::from_fn(|| outbox.pop());
        let shown = frames.map(|frame| match frame {
            ServerFrame::AgentState { agent_id, state } => format!("{agent_id} {:?}", state.status),
            ServerFrame::TextDelta { agent_id, delta } => format!("{agent_id}: {delta}"),
            ServerFrame::UserQuery { agent_id, prompt, .. } => format!("{agent_id}? {prompt}"),
            other => format!("{other:?}"),
        });
        shown.collect()
    }

    #[test]
    fn each_step_of_an_agent_is_shown() {
        let mut outbox = Outbox::default();
        for step in [1, 1, 2, 2, 3] {
            let mut state = state("a", Status::Running);
            state.metadata.step = step;
            outbox.state(state);
        }
        assert_eq!(outbox.frames.len(), 3);
    }

    #[test]
    fn the_first_and_the_newest_state_of_an_agent_wait() {
        let mut outbox = Outbox::default();
        outbox.push(ServerFrame::state(state("a", Status::Running)));
        outbox.push(ServerFrame::state(state("b", Status::Running)));
        for status in [Status::Paused, Status::Running, Status::Paused, Status::Completed] {
            outbox.state(state("a", status));
            outbox.state(state("b", status));
        }
        assert_eq!(outbox.bytes, 4 * "task".len());
        assert_eq!(shown(&mut outbox), ["a Running", "b Running", "a Completed", "b Completed"]);
        assert_eq!(outbox.bytes, 0);
    }

    #[test]
    fn the_text_of_an_agent_is_joined_up_to_16_kib() {
        let mut outbox = Outbox::default();
        let (a, b) = (Text::from("a"), Text::from("b"));
        for piece in ["1", "2"] {
            outbox.delta(&a, piece.into());
            outbox.delta(&b, piece.into());
        }
        outbox.state(state("a", Status::Paused));
        outbox.delta(&a, "3".into());
        outbox.delta(&b, "3".into());
        assert_eq!(shown(&mut outbox), ["a: 12", "b: 123", "a Paused", "a: 3"]);

        outbox.delta(&a, "x".repeat(DELTA - 1).into());
        outbox.delta(&a, "x".into());
        assert_eq!(outbox.frames.len(), 1, "16 KiB are one frame");
        outbox.delta(&a, "x".into());
        assert_eq!((outbox.frames.len(), outbox.bytes), (2, DELTA + 1), "one more byte is another one");
    }

    #[test]
    fn a_closed_question_is_not_sent() {
        let mut outbox = Outbox::default();
        for id in ["1", "2"] {
            let (agent_id, prompt, query_id) = ("a".into(), id.into(), Some(id.into()));
            outbox.push(ServerFrame::UserQuery { agent_id, prompt, query_id, call: None });
        }
        outbox.close_query(&"1".into());
        assert_eq!(outbox.bytes, 1);
        assert_eq!(shown(&mut outbox), ["a? 2"]);
    }

    #[test]
    fn agents_wait_from_64_frames_and_256_kib_on() {
        let mut outbox = Outbox::default();
        for number in 0..63 {
            outbox.delta(&number.to_string().into(), "x".into());
        }
        assert!(outbox.has_room(), "63 frames leave room for one");
        outbox.delta(&"63".into(), "x".into());
        assert!(!outbox.has_room(), "64 frames leave none");

        let mut outbox = Outbox::default();
        outbox.delta(&"a".into(), "x".repeat(BYTES - 1).into());
        assert!(outbox.has_room(), "one byte less leaves room");
        outbox.delta(&"b".into(), "x".into());
        assert!(!outbox.has_room(), "256 KiB leave none");
        outbox.pop();
        assert!(outbox.has_room());
    }
}
