use crate::event::EventBuf;
use crate::{RunEvent, Text};

/// The start event of a message. It is written before the first other event.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) message_id: Text,
    pub(super) emitted: bool,
}

impl Opening {
    /// Returns a writer that writes the start event first.
    pub(super) fn out<'a>(&'a mut self, events: &'a mut EventBuf<RunEvent>) -> Out<'a> {
        Out { opening: self, events }
    }
}

pub(super) struct Out<'a> {
    opening: &'a mut Opening,
    events: &'a mut EventBuf<RunEvent>,
}

impl Out<'_> {
    pub(super) fn push(&mut self, event: RunEvent) {
        if !self.opening.emitted {
            self.opening.emitted = true;
            let message_id = self.opening.message_id.clone();
            self.events.push(RunEvent::Start { message_id, metadata: None });
        }
        self.events.push(event);
    }
}
