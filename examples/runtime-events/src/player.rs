//! A runtime that plays logs of events. A message is a log or the name of a log.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use omniassist_axum::BoxError;
use omniassist_axum::bridge::{AgentEvents, AgentRuntime, BridgeRun};
use omniassist_axum::core::Text;
use omniassist_axum::core::bridge::{AgentCommand, AgentEvent, Skipped};
use tokio::sync::mpsc;

const LOGS: [(&str, &str); 9] = [
    ("text", include_str!("../logs/text.jsonl")),
    ("thinking", include_str!("../logs/thinking.jsonl")),
    ("tool", include_str!("../logs/tool.jsonl")),
    ("tool-error", include_str!("../logs/tool-error.jsonl")),
    ("error", include_str!("../logs/error.jsonl")),
    ("aborted", include_str!("../logs/aborted.jsonl")),
    ("paused", include_str!("../logs/paused.jsonl")),
    ("flow", include_str!("../logs/flow.jsonl")),
    ("spoilt", include_str!("../logs/spoilt.jsonl")),
];

/// The pause between two events of a named log.
const PAUSE: Duration = Duration::from_millis(10);

/// A log that ends only when the client disconnects.
const ENDLESS: &str =
    r#"{"type": "agent:text:delta", "runId": "r1", "nodeId": "writer", "content": "and on "}"#;

/// Plays logs. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct Player(Arc<Mutex<Runs>>);

#[derive(Debug, Default)]
struct Runs {
    /// The receivers of runs that have not started yet.
    listeners: HashMap<Text, mpsc::Sender<Text>>,
    playing: usize,
}

impl Player {
    /// Returns the number of logs that are being played.
    pub(crate) fn runs(&self) -> usize {
        self.lock().playing
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn play(self, log: Log, listener: mpsc::Sender<Text>) {
        self.lock().playing += 1;
        for (event, pause) in log {
            // An error means that the client has disconnected. A real runtime then stops its agents.
            if listener.send(event).await.is_err() {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        self.lock().playing -= 1;
    }
}

type Log = Box<dyn Iterator<Item = (Text, Duration)> + Send>;

fn log(message: &Text) -> Option<Log> {
    if message.as_str() == "endless" {
        return Some(Box::new(std::iter::repeat((Text::from_static(ENDLESS), PAUSE))));
    }
    if let Some((_, log)) = LOGS.iter().find(|(name, _)| message.as_str() == *name) {
        return Some(Box::new(log.lines().map(|event| (Text::from_static(event), PAUSE))));
    }
    let is_log = message.starts_with('{');
    let events: Vec<Text> = message.lines().map(|event| message.slice_ref(event)).collect();
    is_log.then(|| Box::new(events.into_iter().map(|event| (event, Duration::ZERO))) as Log)
}

impl AgentRuntime for Player {
    fn subscribe(&self, run: &BridgeRun) -> AgentEvents {
        let (sender, receiver) = mpsc::channel(16);
        self.lock().listeners.insert(run.message_id.clone(), sender);
        Box::pin(Events(receiver))
    }

    fn dispatch(&self, run: &BridgeRun, command: AgentCommand) -> Result<(), BoxError> {
        let listener = self.lock().listeners.remove(&run.message_id).ok_or("the run has no receiver")?;
        let AgentCommand::Send { message } = command else { return Err("an unknown command".into()) };
        let log = log(&message).ok_or("there is no log of this name")?;
        tokio::spawn(self.clone().play(log, listener));
        Ok(())
    }
}

/// The events of one run. Dropping it closes the channel, which ends the run.
struct Events(mpsc::Receiver<Text>);

impl Stream for Events {
    type Item = Result<AgentEvent, Skipped>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|event| event.map(AgentEvent::parse))
    }
}
