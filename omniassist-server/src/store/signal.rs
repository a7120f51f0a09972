use std::time::Duration;

use bytes::Bytes;
use omniassist_core::Text;

use super::RunId;

/// A message to a run, from any instance.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// The kind.
    pub kind: SignalKind,
    /// The content. The store does not read it.
    pub data: Bytes,
    /// The id of the principal that sent it.
    pub by: Text,
}

/// The kind of a signal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignalKind {
    /// The run should stop. A queued run, which nobody drives, is stopped as soon as the signal is stored.
    Stop,
    /// The answer to the question of this call.
    Answer(Text),
    /// A message for the run, with this id.
    Say(Text),
    /// The agent with this id, which works for the run, should stop. The run goes on.
    StopAgent(Text),
    /// A viewer on another instance waits for the journal during this time. It is not recorded as a signal.
    Watch(Duration),
}

impl SignalKind {
    /// Returns the key under which a run receives one signal only, or `None` for a kind that is not recorded.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        match self {
            Self::Stop => Some("stop".to_owned()),
            Self::Answer(call) => Some(format!("answer:{call}")),
            Self::Say(message) => Some(format!("say:{message}")),
            Self::StopAgent(agent) => Some(format!("stop-agent:{agent}")),
            Self::Watch(_) => None,
        }
    }

    /// Returns the kind of a recorded signal with this key.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        if key == "stop" {
            return Some(Self::Stop);
        }
        match key.split_once(':')? {
            ("answer", call) => Some(Self::Answer(call.into())),
            ("say", message) => Some(Self::Say(message.into())),
            ("stop-agent", agent) => Some(Self::StopAgent(agent.into())),
            _ => None,
        }
    }
}

impl Signal {
    /// Creates a signal without content.
    #[must_use]
    pub fn new(kind: SignalKind, by: impl Into<Text>) -> Self {
        Self { kind, data: Bytes::new(), by: by.into() }
    }
}

/// A recorded signal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The run.
    pub run: RunId,
    /// The number of the signal in its run: 1, 2, 3.
    pub number: u32,
    /// The signal.
    pub signal: Signal,
    /// The time of its arrival, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Received {
    /// Creates a recorded signal.
    #[must_use]
    pub fn new(run: RunId, number: u32, signal: Signal, at_ms: u64) -> Self {
        Self { run, number, signal, at_ms }
    }
}

/// The result of [`RunStore::signal`](super::RunStore::signal).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signalled {
    /// The signal is durable. The run receives it.
    Taken,
    /// The run received this signal under the same key before. It counts, and the new one does not.
    Repeats(Box<Received>),
    /// The run has ended, or asks no such question.
    Late,
    /// The run does not exist for this owner.
    Gone,
}
