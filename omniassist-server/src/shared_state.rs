use std::sync::{Mutex, MutexGuard};

use json_patch::diff;
use omniassist_core::{JsonText, RunEvent, canonical};
use serde_json::Value;

use crate::sync::lock;

/// The state that a run shares with its client: the client's version, and the current one.
///
/// Changes are not queued. The sender compares the two versions, so a slow client gets one large change instead of many
/// small ones.
#[derive(Debug)]
pub(crate) struct SharedState(Mutex<Versions>);

#[derive(Debug)]
struct Versions {
    /// The client's version without the keys that clients refuse; `None` if it has none.
    sent: Option<Value>,
    current: Value,
}

impl SharedState {
    pub(crate) fn new(posted: Option<&JsonText>) -> Self {
        let sent = posted.map(JsonText::to_value).map(without_refused);
        let current = sent.clone().unwrap_or_default();
        Self(Mutex::new(Versions { sent, current }))
    }

    fn lock(&self) -> MutexGuard<'_, Versions> {
        lock(&self.0)
    }

    pub(crate) fn get(&self) -> Value {
        self.lock().current.clone()
    }

    pub(crate) fn update<T>(&self, update: impl FnOnce(&mut Value) -> T) -> T {
        update(&mut self.lock().current)
    }

    /// Returns the change to send: the whole state if the client has none, or else the difference to its version.
    pub(crate) fn take_change(&self) -> Option<RunEvent> {
        let mut versions = self.lock();
        let Versions { sent, current } = &mut *versions;
        if sent.as_ref() == Some(current) {
            return None;
        }
        let shown = without_refused(current.clone());
        let event = match sent {
            None if shown.is_null() => return None,
            None => RunEvent::StateSnapshot(JsonText::from_value(&shown)),
            Some(sent) if *sent == shown => return None,
            Some(sent) => {
                let patch = diff(sent, &shown);
                match JsonText::from_serialize(&patch) {
                    Ok(patch) => RunEvent::StateDelta(patch),
                    Err(_) => RunEvent::StateSnapshot(JsonText::from_value(&shown)),
                }
            }
        };
        *sent = Some(shown);
        Some(event)
    }
}

/// Removes the keys that clients refuse in the path of a patch. The two states would differ from then on.
fn without_refused(mut state: Value) -> Value {
    canonical::remove_refused(&mut state);
    state
}
