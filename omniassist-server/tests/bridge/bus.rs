//! A runtime with one channel per run that counts its subscribers.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::stream;
use http::Extensions;
use omniassist_server::BoxError;
use omniassist_server::bridge::{AgentEvents, AgentRuntime, BridgeRun, Reconnected};
use omniassist_server::core::Text;
use omniassist_server::core::bridge::{AgentCommand, AgentEvent, Skipped};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

type Sender = mpsc::UnboundedSender<Value>;

#[derive(Clone)]
pub(crate) struct Bus(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    subscribers: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    log: Vec<String>,
    runs: Vec<BridgeRun>,
    senders: HashMap<Text, Sender>,
    kept: HashMap<String, (Text, Vec<Value>)>,
    refusal: Option<&'static str>,
}

impl Default for Bus {
    fn default() -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), subscribers: watch::Sender::new(0) }))
    }
}

impl Bus {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.state.lock().unwrap())
    }

    /// Sends an event to the run that writes this message.
    pub(super) fn emit(&self, message_id: &str, event: Value) {
        let sender = self.with(|state| state.senders[message_id].clone());
        // The subscriber can be gone.
        let _ = sender.send(event);
    }

    /// Stops the runtime in the middle of a run.
    pub(super) fn hang_up(&self, message_id: &str) {
        self.with(|state| state.senders.remove(message_id)).unwrap();
    }

    /// Sets the stored events of a chat for clients that reconnect.
    pub(super) fn keeps<const N: usize>(&self, chat_id: &str, message_id: &'static str, events: [Value; N]) {
        self.with(|state| state.kept.insert(chat_id.to_owned(), (message_id.into(), events.into())));
    }

    /// Refuses the next command.
    pub(super) fn refuses(&self, why: &'static str) {
        self.with(|state| state.refusal = Some(why));
    }

    pub(super) fn subscribers(&self) -> usize {
        *self.0.subscribers.borrow()
    }

    pub(super) async fn subscribed(&self) {
        self.0.subscribers.subscribe().wait_for(|count| *count > 0).await.unwrap();
    }

    pub(super) async fn unsubscribed(&self) {
        self.0.subscribers.subscribe().wait_for(|count| *count == 0).await.unwrap();
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.with(|state| state.log.clone())
    }

    pub(super) fn last_run(&self) -> BridgeRun {
        self.with(|state| state.runs.last().unwrap().clone())
    }

    pub(super) fn last_message_id(&self) -> Text {
        self.last_run().message_id
    }

    fn subscription(&self, message_id: &Text, events: AgentEvents) -> AgentEvents {
        self.0.subscribers.send_modify(|count| *count += 1);
        self.with(|state| state.log.push(format!("subscribe {message_id}")));
        Box::pin(Subscription { events, bus: self.clone(), message_id: message_id.clone() })
    }
}

impl AgentRuntime for Bus {
    fn subscribe(&self, run: &BridgeRun) -> AgentEvents {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        self.with(|state| {
            state.runs.push(run.clone());
            state.senders.insert(run.message_id.clone(), sender);
        });
        let events = stream::poll_fn(move |cx| {
            receiver.poll_recv(cx).map(|event| event.map(|event: Value| AgentEvent::parse(event.to_string())))
        });
        self.subscription(&run.message_id, Box::pin(events))
    }

    fn dispatch(&self, run: &BridgeRun, command: AgentCommand) -> Result<(), BoxError> {
        let command = serde_json::to_value(command)?;
        self.with(|state| {
            state.log.push(format!("dispatch {} {command}", run.message_id));
            state.refusal.take().map_or(Ok(()), |why| Err(why.into()))
        })
    }

    fn reconnect(&self, chat_id: &str, _extensions: &Extensions) -> Option<Reconnected> {
        let (message_id, events) = self.with(|state| state.kept.get(chat_id).cloned())?;
        let events = stream::iter(events.into_iter().map(|event| AgentEvent::parse(event.to_string())));
        Some(Reconnected { events: self.subscription(&message_id, Box::pin(events)), message_id })
    }
}

struct Subscription {
    events: AgentEvents,
    bus: Bus,
    message_id: Text,
}

impl Stream for Subscription {
    type Item = Result<AgentEvent, Skipped>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.bus.with(|state| state.log.push(format!("unsubscribe {}", self.message_id)));
        self.bus.0.subscribers.send_modify(|count| *count -= 1);
    }
}

pub(super) fn agent(event_type: &str, fields: Value) -> Value {
    let Value::Object(mut event) = fields else { panic!("the fields must be an object") };
    for (key, value) in [("type", event_type), ("runId", "r1"), ("nodeId", "n1")] {
        event.insert(key.to_owned(), value.into());
    }
    event.into()
}

pub(super) fn text(content: &str) -> Value {
    agent("agent:text:delta", json!({"content": content}))
}

pub(super) fn complete() -> Value {
    agent("agent:complete", json!({}))
}
