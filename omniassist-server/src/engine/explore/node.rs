use std::collections::VecDeque;
use std::task::{Context, Waker};

use omniassist_core::Text;
use omniassist_core::agent_tree::{CoreMessage, NodeState};
use tokio::sync::oneshot;

use crate::engine::stores::answers::Answer;

/// The most messages, and bytes of messages, of a state.
const MESSAGES: (usize, usize) = (20, 64 * 1024);

/// The most remarks of the user that an agent reads, and their bytes.
pub(super) const REMARKS: (usize, usize) = (32, 64 * 1024);

/// A statement of the user about the task of an agent.
#[derive(Debug, Clone)]
pub(super) enum Note {
    Answer { question: Text, answer: Text },
    Remark(Text),
}

/// An agent of a tree, as its user sees and changes it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) state: NodeState,
    pub(super) notes: Vec<Note>,
    pub(super) queries: VecDeque<oneshot::Sender<Text>>,
    /// The places of the answers to the open questions about calls, by the ids of the questions.
    pub(super) calls: Vec<(Text, oneshot::Sender<Answer>)>,
    /// `true` for an agent that a tool has asked: it follows no program.
    pub(super) is_asked: bool,
    pub(super) is_paused: bool,
    pub(super) has_to_answer: bool,
    /// `true` if the task or a remark came after the last model call.
    pub(super) has_changed: bool,
    wakers: Vec<Waker>,
}

impl Node {
    pub(super) fn new(state: NodeState, is_asked: bool) -> Self {
        Self {
            state,
            notes: Vec::new(),
            queries: VecDeque::new(),
            calls: Vec::new(),
            is_asked,
            is_paused: false,
            has_to_answer: false,
            has_changed: false,
            wakers: Vec::new(),
        }
    }

    /// Wakes this task for the next change by the user.
    pub(super) fn watch(&mut self, cx: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.wakers.push(cx.waker().clone());
        }
    }

    pub(super) fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Adds a remark. The oldest ones give way.
    pub(super) fn remark(&mut self, remark: Text) {
        self.state.user_comment = Some(remark.clone());
        self.notes.push(Note::Remark(remark));
        self.has_changed = true;
        let size = |note: &Note| match note {
            Note::Remark(remark) => Some(remark.len()),
            Note::Answer { .. } => None,
        };
        let sizes = self.notes.iter().filter_map(size);
        let (mut count, mut bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        self.notes.retain(|note| match size(note) {
            Some(size) if count > REMARKS.0 || bytes > REMARKS.1 => {
                (count, bytes) = (count - 1, bytes - size);
                false
            }
            _ => true,
        });
    }

    /// Adds a message. The oldest ones give way.
    pub(super) fn say(&mut self, message: CoreMessage) {
        let messages = &mut self.state.messages;
        messages.push(message);
        let mut bytes = 0;
        let fits = |message: &&CoreMessage| {
            bytes += message.size();
            bytes <= MESSAGES.1
        };
        let kept = messages.iter().rev().take(MESSAGES.0).take_while(fits).count();
        messages.drain(..messages.len() - kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        Node::new(NodeState::begun("a".into(), None, "task".into(), 0), false)
    }

    #[test]
    fn a_state_has_the_last_20_messages_and_64_kib() {
        let mut many = node();
        for number in 0..21 {
            many.say(CoreMessage::User(number.to_string().into()));
            assert_eq!(many.state.messages.len(), (number + 1).min(20));
        }
        assert_eq!(many.state.messages[0], CoreMessage::User("1".into()));
        let mut large = node();
        let half = CoreMessage::User("x".repeat(32 * 1024 - 64).into());
        large.say(half.clone());
        large.say(half);
        assert_eq!(large.state.messages.len(), 2, "64 KiB fit");
        large.say(CoreMessage::User("".into()));
        assert_eq!(large.state.messages.len(), 2, "one more byte does not");
    }

    #[test]
    fn an_agent_reads_the_last_32_remarks() {
        let mut node = node();
        (0..33).for_each(|number| node.remark(number.to_string().into()));
        assert_eq!(node.notes.len(), 32);
        assert!(matches!(&node.notes[0], Note::Remark(text) if text == "1"));
    }

    #[test]
    fn an_agent_reads_64_kib_of_remarks() {
        let mut node = node();
        let (question, answer) = ("Which?".into(), "x".repeat(256 * 1024).into());
        node.notes.push(Note::Answer { question, answer });
        node.remark("a".repeat(32 * 1024).into());
        node.remark("b".repeat(32 * 1024).into());
        assert_eq!(node.notes.len(), 3, "64 KiB fit");
        node.remark("c".into());
        assert_eq!(node.notes.len(), 3, "one more byte does not");
        assert!(matches!(&node.notes[0], Note::Answer { .. }), "answers stay");
        assert!(matches!(&node.notes[1], Note::Remark(text) if text.starts_with('b')));
        node.remark("d".repeat(64 * 1024).into());
        assert_eq!(node.notes.len(), 2);
    }
}
