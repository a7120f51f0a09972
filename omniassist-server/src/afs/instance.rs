use std::error::Error as StdError;
use std::fmt;

use omniassist_core::Text;
use serde_json::{Map, Value};

use super::{AfsEntry, iso};
use crate::clock;
use crate::store::{Scope, StoreError};

/// The state of a component's instance, as a history keeps it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredInstance {
    /// The name of the component.
    pub(crate) component: Text,
    /// The number of the change.
    pub(crate) rev: u64,
    /// The state that the user may write.
    pub(crate) state: Map<String, Value>,
    /// The state that only the server writes.
    pub(crate) server: Option<Map<String, Value>>,
}

/// The reason why an instance was not changed.
#[derive(Debug)]
pub(crate) enum UpdateError<E> {
    /// The change was refused.
    Refused(E),
    /// The conversation was deleted.
    Deleted,
    /// The store failed.
    Store(StoreError),
}

impl<E: fmt::Display> fmt::Display for UpdateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Deleted => f.write_str("the conversation was deleted"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl<E: StdError + 'static> StdError for UpdateError<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Refused(error) => error.source(),
            Self::Deleted => None,
            Self::Store(error) => error.source(),
        }
    }
}

impl StoredInstance {
    /// Creates an instance before its first change. Its id begins with the name of the component.
    pub(crate) fn new(instance: &str, state: Map<String, Value>) -> Self {
        let component = instance.rsplit_once('_').map_or(instance, |(component, _)| component);
        Self { component: component.into(), rev: 0, state, server: None }
    }

    pub(super) fn into_entry(self, scope: &Scope, session: &str, instance: &str) -> AfsEntry {
        let mut entry = AfsEntry::component_state(instance, self.state)
            .with("updatedAt", iso(clock::now_ms()))
            .with("seq", self.rev)
            .with("componentName", self.component.as_str())
            .with("userId", scope.owner())
            .with("sessionId", session);
        if let Some(server) = self.server {
            entry = entry.with("server", server);
        }
        entry
    }

    pub(super) fn from_entry(entry: &AfsEntry) -> Result<Self, StoreError> {
        let number = entry.metadata.get("seq").and_then(Value::as_u64);
        let (Some(rev), Some(state)) = (number, entry.state()) else {
            return Err(StoreError::corrupt("the entry of an instance has no state or no number"));
        };
        let component = entry.metadata.get("componentName").and_then(Value::as_str);
        let server = entry.metadata.get("server").and_then(Value::as_object);
        Ok(Self {
            component: component.unwrap_or_default().into(),
            rev,
            state: state.clone(),
            server: server.cloned(),
        })
    }
}
