//! Snapshots of the client's messages.

use bytes::BytesMut;

use super::copy::{ClientCopy, at};
use super::encoder::{Encoder, Stage};
use super::{frame, view};
use crate::RunEvent;
use crate::dialect::DialectEncoder;
use crate::dialect::ag_ui::Version;
use crate::journal::message_events;
use crate::message::{Message, Role};

impl Encoder {
    /// Keeps a copy of the client's messages, which is `conversation` and then the answer. With it the encoder can withdraw
    /// what a [`StepReset`](RunEvent::StepReset) withdraws, and [`catch_up`](Self::catch_up). Default: no copy, and a
    /// `StepReset` cuts the response off.
    #[must_use]
    pub fn copying(mut self, conversation: &[Message]) -> Self {
        let mut copy = ClientCopy::default();
        for message in conversation {
            match message.role {
                Role::Assistant => copy = self.with_answer(copy, message),
                _ => copy.add(message),
            }
        }
        copy.before_step = (copy.messages.len(), 0);
        self.copy = Some(Box::new(copy));
        self
    }

    /// Writes the state after these events, for a client that begins to read in the middle of a run: a snapshot of all
    /// messages, the shared state and activities. The starts of the text that is being written and of the agents at work
    /// follow, and the end of the run if the events have it. The encoder must be new and have a [copy](Self::copying).
    pub fn catch_up<'a>(&mut self, events: impl IntoIterator<Item = &'a RunEvent>, out: &mut BytesMut) {
        let events: Vec<_> = events.into_iter().collect();
        let (mut unread, mut shown, mut end) = (BytesMut::new(), BytesMut::new(), None);
        for event in events.iter().copied() {
            if event.is_terminal() {
                end = Some(event);
                break;
            }
            self.encode(event, &mut unread);
            unread.clear();
            if let RunEvent::StateSnapshot(_)
            | RunEvent::StateDelta(_)
            | RunEvent::ActivitySnapshot { .. }
            | RunEvent::Component(_) = event
            {
                view::write(event, &mut shown);
            }
            if let RunEvent::AgentState(state) = event
                && self.version < Version::V1
            {
                self.agent_state(state, &mut shown);
            }
        }
        self.run_started(out);
        if self.step_is_open {
            self.write_step_start(out);
        }
        // A call is written from its start, because clients add its arguments to those that they have.
        let open: Vec<_> = self.calls.iter().filter(|call| call.is_open()).map(|call| &call.id).collect();
        let calls = self.copy.as_mut().map(|copy| copy.take_calls(&open)).unwrap_or_default();
        self.snapshot(out);
        out.unsplit(shown);
        for block in &self.blocks {
            block.start(out);
        }
        self.show_agents(&events, out);
        for (host, call) in calls {
            let function = at(&call, "function");
            frame::write(out, "TOOL_CALL_START", |object| {
                object
                    .field("toolCallId", at(&call, "id"))
                    .field("toolCallName", at(function, "name"))
                    .field("parentMessageId", &host)
            });
            frame::write(out, "TOOL_CALL_ARGS", |object| {
                object.field("toolCallId", at(&call, "id")).field("delta", at(function, "arguments"))
            });
            if let Some(copy) = &mut self.copy {
                copy.start_call(&host, call);
            }
        }
        if let Some(end) = end {
            self.encode(end, out);
        }
    }

    /// Returns the copy with an answer of an earlier run.
    fn with_answer(&self, copy: ClientCopy, message: &Message) -> ClientCopy {
        let mut encoder = Self::new(self.thread_id.clone(), self.run_id.clone(), self.version);
        encoder.copy = Some(Box::new(copy));
        let mut unread = BytesMut::new();
        for event in message_events(message) {
            encoder.encode(&event, &mut unread);
            unread.clear();
        }
        let mut copy = encoder.copy.map(|copy| *copy).unwrap_or_default();
        for part in message.tools() {
            part.metadata.iter().for_each(|state| copy.add_state(&part.call_id, state));
        }
        copy
    }

    fn snapshot(&self, out: &mut BytesMut) {
        let Some(copy) = &self.copy else { return };
        frame::write(out, "MESSAGES_SNAPSHOT", |object| object.field("messages", &copy.messages));
    }

    /// Withdraws the messages of the current step.
    pub(super) fn reset_step(&mut self, out: &mut BytesMut) {
        let Some(copy) = &mut self.copy else {
            self.is_cut = true;
            self.stage = Stage::Ended;
            return;
        };
        let (messages, calls) = copy.before_step;
        copy.messages.truncate(messages);
        self.named = copy.was_named;
        self.close_blocks(out);
        self.close_open_calls(calls, out);
        self.calls.truncate(calls);
        self.host = None;
        self.snapshot(out);
    }

    /// Applies the frames from `start` on to the copy.
    pub(super) fn copy_frames(&mut self, event: &RunEvent, start: usize, out: &BytesMut) {
        let Some(copy) = &mut self.copy else { return };
        let frames = out.get(start..).and_then(|frames| std::str::from_utf8(frames).ok()).unwrap_or_default();
        for frame in frames.split("\n\n").filter_map(|frame| frame.strip_prefix("data: ")) {
            if let Ok(frame) = serde_json::from_str(frame) {
                copy.apply(&frame);
            }
        }
        if let RunEvent::StepStart = event {
            copy.before_step = (copy.messages.len(), self.calls.len());
            copy.was_named = self.named;
        }
    }
}
