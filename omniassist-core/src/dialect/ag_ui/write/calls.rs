//! Tool calls of a run and their results.

use bytes::BytesMut;
use serde_json::{Map, json};

use super::encoder::{Call, Encoder, Progress};
use super::frame::{self, encrypted};
use super::outcome::Ask;
use crate::dialect::ag_ui::client_state::{self, ResultKind};
use crate::dialect::posted;
use crate::message::{OWN_KEY, ProviderMetadata};
use crate::{JsonText, Text};

impl Encoder {
    fn call_mut(&mut self, call_id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.id == call_id)
    }

    pub(super) fn open_call(&mut self, call_id: &Text, name: &Text, out: &mut BytesMut) {
        if self.call_mut(call_id).is_some() {
            return;
        }
        let host = match &self.host {
            Some(host) => host.clone(),
            None => self.assistant_id(),
        };
        frame::write(out, "TOOL_CALL_START", |object| {
            object.field("toolCallId", call_id).field("toolCallName", name).field("parentMessageId", &host)
        });
        self.host = Some(host);
        self.calls.push(Call {
            id: call_id.clone(),
            sent: String::new(),
            held: String::new(),
            progress: Progress::Open,
            provider_executed: false,
            state: None,
        });
    }

    pub(super) fn arguments(&mut self, call_id: &Text, delta: &str, out: &mut BytesMut) {
        if let Some(call) = self.call_mut(call_id).filter(|call| call.progress == Progress::Open) {
            call.held.push_str(delta);
            if !call.sent.is_empty() || !posted::may_say_none(&call.held) {
                call.pass_on(out);
            }
        }
    }

    /// Ends an open call. `None` means that its arguments are incomplete.
    pub(super) fn close_call(
        &mut self,
        call_id: &Text,
        input: Option<&JsonText>,
        provider_executed: bool,
        state: Option<&ProviderMetadata>,
        out: &mut BytesMut,
    ) {
        let Some(call) = self.call_mut(call_id).filter(|call| call.progress == Progress::Open) else {
            return;
        };
        if input.is_none() {
            call.pass_on(out);
        }
        call.progress = Progress::Whole;
        call.provider_executed = provider_executed;
        call.state = state.cloned();
        let mut notes = Map::new();
        if provider_executed {
            notes.insert(client_state::PROVIDER_EXECUTED.to_owned(), true.into());
        }
        if let Some(input) = input {
            let text = client_state::text_of(input);
            match text.strip_prefix(call.sent.as_str()) {
                Some("") => {}
                Some(rest) => arguments(out, call_id, rest),
                // The texts differ only in surrounding white space, or an empty text means an empty object.
                None if posted::arguments(&call.sent.as_str().into()) == *input => {}
                None => drop(notes.insert(client_state::INPUT.to_owned(), input.to_value())),
            }
        }
        let notes = (!notes.is_empty()).then(|| json!({ OWN_KEY: notes }));
        frame::write(out, "TOOL_CALL_END", |object| {
            object.field("toolCallId", call_id).some("metadata", notes.as_ref())
        });
        encrypted(out, "tool-call", call_id, state);
    }

    /// Ends the open calls from this index on.
    pub(super) fn close_open_calls(&mut self, from: usize, out: &mut BytesMut) {
        let open = self.calls.iter().skip(from).filter(|call| call.is_open());
        for call_id in open.map(|call| call.id.clone()).collect::<Vec<_>>() {
            self.close_call(&call_id, None, false, None, out);
        }
    }

    pub(super) fn result(&mut self, call_id: &Text, content: &str, kind: ResultKind, out: &mut BytesMut) {
        if let Some(call) = self.call_mut(call_id) {
            if call.progress == Progress::Open {
                self.close_call(call_id, None, false, None, out);
            }
            if let Some(call) = self.call_mut(call_id) {
                call.progress = Progress::Answered;
            }
        }
        let settled = self.continuation.settled.iter_mut().find(|one| one.call_id == *call_id);
        if let Some(settled) = settled {
            settled.form = None;
        }
        self.asks.retain(|ask| ask.call_id() != call_id);
        let notes = json!({ OWN_KEY: { client_state::RESULT: kind } });
        let message_id = self.further_id();
        frame::write(out, "TOOL_CALL_RESULT", |object| {
            object
                .field("messageId", &message_id)
                .field("toolCallId", call_id)
                .field("content", content)
                .field("role", "tool")
                .field("metadata", &notes)
        });
        self.continuation.results.retain(|(id, _)| id != call_id);
        self.continuation.results.push((call_id.clone(), message_id));
    }

    /// Writes the results of forms that the client answered in this request, because its conversation does not contain
    /// them yet.
    pub(super) fn settle_forms(&mut self, out: &mut BytesMut) {
        for index in 0..self.continuation.settled.len() {
            self.settle_form(index, out);
        }
    }

    fn settle_form(&mut self, index: usize, out: &mut BytesMut) {
        let Some(one) = self.continuation.settled.get_mut(index) else { return };
        let (call_id, form) = (one.call_id.clone(), one.form.take());
        match form {
            Some(Ok(output)) => {
                self.result(&call_id, &client_state::text_of(&output), ResultKind::Output, out);
            }
            Some(Err(error_text)) => self.result(&call_id, &error_text, ResultKind::Error, out),
            None => {}
        }
    }

    pub(super) fn seal(&mut self, call_id: &Text, seal: &str, out: &mut BytesMut) {
        if let Some(index) = self.continuation.settled.iter().position(|one| one.call_id == *call_id) {
            self.settle_form(index, out);
        }
        if let Some((_, message_id)) = self.continuation.results.iter().find(|(id, _)| id == call_id) {
            let state = client_state::with_own(None, client_state::SEAL, seal);
            encrypted(out, "message", message_id, Some(&state));
        }
    }

    /// Records that a call waits for the client. `RUN_FINISHED` lists the interrupts. The call's state contains the id
    /// of its interrupt, so that the next request shows which interrupts are open.
    pub(super) fn ask(&mut self, ask: Ask, out: &mut BytesMut) {
        let call_id = ask.call_id().clone();
        if let Some(one) = self.continuation.settled.iter_mut().find(|one| one.call_id == call_id) {
            one.form = None;
        }
        let of_run = self.calls.iter().find(|call| call.id == call_id).and_then(|call| call.state.as_ref());
        let posted = self.continuation.states.iter().find(|(id, _)| *id == call_id).map(|(_, state)| state);
        let state = client_state::with_own(of_run.or(posted), client_state::INTERRUPT, &ask.id());
        encrypted(out, "tool-call", &call_id, Some(&state));
        self.asks.retain(|other| *other.call_id() != call_id);
        self.asks.push(ask);
    }
}

impl Call {
    /// Sends the arguments that were held back.
    fn pass_on(&mut self, out: &mut BytesMut) {
        if !self.held.is_empty() {
            arguments(out, &self.id, &self.held);
            self.sent.push_str(&self.held);
            self.held.clear();
        }
    }
}

fn arguments(out: &mut BytesMut, call_id: &str, delta: &str) {
    frame::write(out, "TOOL_CALL_ARGS", |object| object.field("toolCallId", call_id).field("delta", delta));
}
