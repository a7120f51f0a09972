use super::AgentRun;
use super::out::Out;
use crate::Text;
use crate::event::{BlockId, BlockKind};

/// The state of a message's text or reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PartState {
    /// No part has started.
    #[default]
    Idle,
    /// A part is open.
    Streaming,
    /// All parts are closed.
    Done,
}

/// The text and reasoning parts of one message. Each agent has at most one open part.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    writers: Vec<Writer>,
    next_block: u32,
    /// The kinds of parts that have occurred.
    began: Both,
}

#[derive(Debug, Clone)]
struct Writer {
    agent: AgentRun,
    open: Option<(BlockKind, BlockId)>,
    /// The kinds that had deltas since the last complete one.
    in_deltas: Both,
}

#[derive(Debug, Clone, Copy, Default)]
struct Both {
    text: bool,
    reasoning: bool,
}

impl Both {
    fn of(&mut self, kind: BlockKind) -> &mut bool {
        match kind {
            BlockKind::Text => &mut self.text,
            BlockKind::Reasoning => &mut self.reasoning,
        }
    }
}

impl Parts {
    pub(super) fn state(&self, kind: BlockKind) -> PartState {
        let mut began = self.began;
        if self.writers.iter().any(|writer| writer.open.is_some_and(|(open, _)| open == kind)) {
            PartState::Streaming
        } else if *began.of(kind) {
            PartState::Done
        } else {
            PartState::Idle
        }
    }

    /// Writes a delta. Starts a part of this kind if none is open, and ends an open part of the other kind.
    pub(super) fn delta(&mut self, agent: &AgentRun, kind: BlockKind, content: Text, out: &mut Out<'_>) {
        if content.is_empty() {
            return;
        }
        let at = self.writers.iter().position(|writer| writer.agent == *agent).unwrap_or_else(|| {
            self.writers.push(Writer { agent: agent.clone(), open: None, in_deltas: Both::default() });
            self.writers.len() - 1
        });
        let Some(writer) = self.writers.get_mut(at) else { return };
        let id = match writer.open {
            Some((open, id)) if open == kind => id,
            _ => {
                writer.close(out);
                let id = BlockId(self.next_block);
                self.next_block = self.next_block.wrapping_add(1);
                writer.open = Some((kind, id));
                out.push(kind.start(id));
                id
            }
        };
        *writer.in_deltas.of(kind) = true;
        *self.began.of(kind) = true;
        out.push(kind.delta(id, content));
    }

    /// Ends the text or reasoning of an agent. Writes the whole content first if it had no delta.
    pub(super) fn complete(&mut self, agent: &AgentRun, kind: BlockKind, content: Text, out: &mut Out<'_>) {
        let writer = self.writers.iter_mut().find(|writer| writer.agent == *agent);
        let came = writer.is_some_and(|writer| std::mem::take(writer.in_deltas.of(kind)));
        if !came {
            self.delta(agent, kind, content, out);
        }
        let Some(writer) = self.writers.iter_mut().find(|writer| writer.agent == *agent) else { return };
        *writer.in_deltas.of(kind) = false;
        if writer.open.is_some_and(|(open, _)| open == kind) {
            writer.close(out);
        }
    }

    /// Closes the open part of the agent.
    pub(super) fn close(&mut self, agent: &AgentRun, out: &mut Out<'_>) {
        for writer in self.writers.iter_mut().filter(|writer| writer.agent == *agent) {
            writer.close(out);
        }
    }

    /// Closes the parts of one agent, or of all agents of a node, and forgets them.
    pub(super) fn end(&mut self, node_id: &Text, run_id: Option<&Text>, out: &mut Out<'_>) {
        self.writers.retain_mut(|writer| {
            let agent = &writer.agent;
            let ends = agent.node_id == *node_id && run_id.is_none_or(|run_id| agent.run_id == *run_id);
            if ends {
                writer.close(out);
            }
            !ends
        });
    }

    /// Closes all parts.
    pub(super) fn close_all(&mut self, out: &mut Out<'_>) {
        for writer in &mut self.writers {
            writer.close(out);
        }
    }
}

impl Writer {
    fn close(&mut self, out: &mut Out<'_>) {
        if let Some((kind, id)) = self.open.take() {
            out.push(kind.end(id, None));
        }
    }
}
