use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The metadata key of this project, with its seals and notes.
pub const OWN_KEY: &str = "omniassist";

/// Returns this project's entry of metadata. In a part it is `{"seal": …}`, and in a message `{"seals": {<call id>: …},
/// "approvals": {<call id>: …}}`.
#[must_use]
pub fn own_entries(metadata: &Map<String, Value>) -> Option<&Map<String, Value>> {
    metadata.get(OWN_KEY)?.as_object()
}

/// State of a provider that belongs to a part of the conversation, as a map of two levels: `{"openai": {"itemId": …}}`.
///
/// Clients store it and post it back unchanged. The entry [`OWN_KEY`] belongs to this project and is never sent to a
/// provider. [`Deref`] gives read access to the map.
///
/// ```
/// use omniassist_core::message::ProviderMetadata;
///
/// let mut metadata = ProviderMetadata::default();
/// metadata.set_own("seal", "v1.k.0.mac");
/// assert_eq!(metadata.own_text("seal"), Some("v1.k.0.mac"));
/// metadata.forget_own();
/// assert!(metadata.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderMetadata(Map<String, Value>);

impl ProviderMetadata {
    /// The key in this project's entry for a call's arguments as the model wrote them, if a client may change the
    /// spelling of their numbers.
    pub const ARGUMENTS: &str = "arguments";

    /// The key in this project's entry for a call of an asked agent that waits for its answer. Such a call does not belong to
    /// the conversation with the model. The value has the sealed state of the agent, a space, and the id of the call by
    /// which the agent was asked. The state stands in one of the agent's calls, and is empty in the others.
    pub const AGENT: &str = "agent";

    /// The key in a provider's state for a [compaction](Self::is_compaction).
    pub const COMPACTION: &str = "compaction";

    /// Returns `true` if the state contains a compaction: a provider's short form of the conversation before the part,
    /// as an object with the key [`COMPACTION`](Self::COMPACTION). Only the provider that wrote it can read it.
    #[must_use]
    pub fn is_compaction(&self) -> bool {
        self.0.values().any(|state| state.get(Self::COMPACTION).is_some_and(Value::is_object))
    }

    /// Returns the metadata with the state of one provider.
    #[must_use]
    pub fn of(provider: &str, state: Map<String, Value>) -> Self {
        Self::from_iter([(provider.to_owned(), Value::Object(state))])
    }

    /// Sets the state of one provider, and returns the previous state.
    pub fn insert(&mut self, provider: impl Into<String>, state: Value) -> Option<Value> {
        self.0.insert(provider.into(), state)
    }

    /// Removes the state of one provider.
    pub fn remove(&mut self, provider: &str) -> Option<Value> {
        self.0.remove(provider)
    }

    /// Keeps the entries for which `keep` returns `true`.
    pub fn retain(&mut self, keep: impl FnMut(&String, &mut Value) -> bool) {
        self.0.retain(keep);
    }

    /// Returns this project's own entry.
    #[must_use]
    pub fn own(&self) -> Option<&Map<String, Value>> {
        own_entries(&self.0)
    }

    /// Returns a string of this project's own entry.
    #[must_use]
    pub fn own_text(&self, key: &str) -> Option<&str> {
        self.own()?.get(key)?.as_str()
    }

    /// Sets a value in this project's own entry.
    pub fn set_own(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let own = self.0.entry(OWN_KEY).or_insert_with(|| Value::Object(Map::new()));
        if let Some(own) = own.as_object_mut() {
            own.insert(key.into(), value.into());
        }
    }

    /// Removes a value from this project's own entry, and the entry with its last value.
    pub fn take_own(&mut self, key: &str) -> Option<Value> {
        let own = self.0.get_mut(OWN_KEY)?.as_object_mut()?;
        let taken = own.remove(key);
        if own.is_empty() {
            self.forget_own();
        }
        taken
    }

    /// Removes this project's own entry.
    pub fn forget_own(&mut self) {
        self.0.remove(OWN_KEY);
    }
}

impl Deref for ProviderMetadata {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<Map<String, Value>> for ProviderMetadata {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl FromIterator<(String, Value)> for ProviderMetadata {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}
