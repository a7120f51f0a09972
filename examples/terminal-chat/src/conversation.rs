//! The messages of a chat, and the run that writes the last one.

use std::collections::BTreeMap;
use std::future::pending;

use futures_util::{FutureExt as _, StreamExt as _};
use omniassist_core::partial_json::Growing;
use omniassist_server::core::event::{InstanceState, RunEvent};
use omniassist_server::core::message::{
    Decision, Message, MessageCollector, Part, Role, ToolPart, ToolState,
};
use omniassist_server::core::{JsonText, RunRequest, Text};
use omniassist_server::{Assistant, Run};
use serde_json::Value;

use crate::components;

/// The events that are read before the screen is drawn again.
const BURST: usize = 256;

/// A chat with an assistant.
#[derive(Debug)]
pub struct Conversation {
    assistant: Assistant,
    messages: Vec<Message>,
    live: Option<Live>,
    /// The reason why the last answer ended early.
    failure: Option<Text>,
}

/// The run that writes an answer.
#[derive(Debug)]
struct Live {
    run: Run,
    collector: MessageCollector,
    /// The arguments of calls that are being written.
    arguments: BTreeMap<Text, Growing>,
}

impl Conversation {
    /// Creates a chat without messages.
    #[must_use]
    pub fn new(assistant: Assistant) -> Self {
        Self { assistant, messages: Vec::new(), live: None, failure: None }
    }

    /// Sends a message of the user.
    pub fn send(&mut self, text: String) {
        let id = format!("user-{}", self.messages.len());
        self.messages.push(Message::user(id, text));
        self.start();
    }

    /// Returns `true` while an answer is being written.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.live.is_some()
    }

    /// Stops the answer.
    pub fn stop(&self) {
        if let Some(live) = &self.live {
            live.run.handle().abort("stopped by the user");
        }
    }

    /// Waits for the next events of the answer and applies them. Never returns without a run, so that it can be one
    /// branch of a `select!`. Dropping the future loses nothing.
    pub async fn advance(&mut self) {
        let Some(live) = &mut self.live else { return pending().await };
        let mut next = live.run.next().await;
        for _ in 0..BURST {
            let Some(event) = next else {
                self.end();
                return;
            };
            live.apply(&event);
            match event {
                RunEvent::Error { message, .. } => self.failure = Some(message),
                RunEvent::Abort { reason } => self.failure = Some(reason),
                _ => {}
            }
            match live.run.next().now_or_never() {
                Some(event) => next = event,
                None => return,
            }
        }
    }

    fn start(&mut self) {
        self.failure = None;
        let run = self.assistant.run(RunRequest::new(self.messages.clone()));
        let continued = self.messages.pop_if(|last| last.role == Role::Assistant);
        let collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
        self.live = Some(Live { run, collector, arguments: BTreeMap::new() });
    }

    fn end(&mut self) {
        if let Some(live) = self.live.take() {
            let message = live.collector.into_message();
            if !message.parts.is_empty() {
                self.messages.push(message);
            }
        }
    }

    /// Returns the messages that are complete.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the message that is being written.
    pub(crate) fn live_message(&self) -> Option<Message> {
        self.live.as_ref().map(|live| live.collector.clone().into_message())
    }

    /// Returns the arguments of a call as far as they are written.
    pub(crate) fn arguments(&self, call_id: &str) -> Option<&Growing> {
        self.live.as_ref().and_then(|live| live.arguments.get(call_id))
    }

    /// Returns the reason why the last answer ended early.
    pub(crate) fn failure(&self) -> Option<&Text> {
        self.failure.as_ref()
    }

    /// Returns the first call that waits for the user.
    pub(crate) fn open_call(&self) -> Option<&ToolPart> {
        if self.live.is_some() {
            return None;
        }
        self.messages.last().into_iter().flat_map(Message::tools).find(|call| is_open(call))
    }

    /// Answers a request for approval.
    pub(crate) fn decide(&mut self, call_id: &str, approved: bool) {
        self.answer_with(call_id, |state| match state {
            ToolState::ApprovalRequested { input, approval } => {
                let decision = if approved { Decision::approved() } else { Decision::denied(None) };
                let (input, approval) = (input.clone(), approval.clone().decided(decision));
                Some(ToolState::ApprovalResponded { input, approval })
            }
            _ => None,
        });
    }

    /// Answers a component that waits for the user.
    pub(crate) fn respond(&mut self, call_id: &str, answer: &Value) {
        let output = JsonText::from_value(answer);
        self.answer_with(call_id, |state| {
            let input = state.input()?.clone();
            Some(ToolState::OutputAvailable { input, output, preliminary: false })
        });
    }

    /// Replaces the state of a call in the last message. The run goes on when no other call waits.
    fn answer_with(&mut self, call_id: &str, answered: impl FnOnce(&ToolState) -> Option<ToolState>) {
        let parts = self.messages.last_mut().map(|message| message.parts.iter_mut());
        let mut calls = parts.into_iter().flatten().filter_map(|part| match part {
            Part::Tool(call) => Some(call),
            _ => None,
        });
        let Some(call) = calls.find(|call| call.call_id == *call_id) else { return };
        let Some(state) = answered(&call.state) else { return };
        call.state = state;
        if self.open_call().is_none() {
            self.start();
        }
    }

    /// Returns the part of an instance's state that the user may change.
    pub(crate) fn state(&self, instance: &str) -> Option<Value> {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let states = parts.filter_map(|part| state_of(part, instance));
        states.last().map(|state| state.state.to_value())
    }

    /// Changes the part of an instance's state that the user may change. The state goes with the next message, as part of
    /// the conversation.
    pub(crate) fn set_state(&mut self, instance: &str, changed: &Value) {
        let parts = self.messages.iter_mut().flat_map(|message| &mut message.parts);
        let last = parts.filter_map(|part| state_of(part, instance).map(|state| (part, state))).last();
        if let Some((Part::Data(part), mut state)) = last {
            state.state = JsonText::from_value(changed);
            if let Ok(data) = JsonText::from_serialize(&state) {
                part.data = data;
            }
        }
    }
}

/// Returns the state in a part, if it is that of the instance.
fn state_of(part: &Part, instance: &str) -> Option<InstanceState> {
    match part {
        Part::Data(part) if part.name == *InstanceState::DATA && part.id.as_deref() == Some(instance) => {
            part.data.to().ok()
        }
        _ => None,
    }
}

/// Returns the instance that a call showed.
pub(crate) fn instance_of(call: &ToolPart) -> Option<Text> {
    let ToolState::OutputAvailable { output, .. } = &call.state else { return None };
    output.to_value().get("instanceId").and_then(Value::as_str).map(Text::from)
}

fn is_open(call: &ToolPart) -> bool {
    match call.state {
        ToolState::ApprovalRequested { .. } => true,
        ToolState::InputAvailable { .. } => {
            matches!(components::name_of(&call.name), Some("form" | "choices"))
        }
        _ => false,
    }
}

impl Live {
    fn apply(&mut self, event: &RunEvent) {
        self.collector.apply(event);
        match event {
            RunEvent::ToolInputDelta { call_id, delta } => {
                // Arguments that cannot become JSON stay as they were; the run reports them.
                let _ = self.arguments.entry(call_id.clone()).or_default().push(delta);
            }
            RunEvent::ToolInputAvailable { call_id, .. } | RunEvent::ToolInputError { call_id, .. } => {
                self.arguments.remove(call_id);
            }
            _ => {}
        }
    }
}
