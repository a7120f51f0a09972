//! Ids of calls: unique within a conversation, and in a form that a client can return.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::message::ProviderMetadata;
use crate::{Text, TranscriptItem};

/// The entry of a call's provider metadata with the provider's id, if the call has a different one.
const PROVIDER_CALL: &str = "providerCall";

/// The ids in use, which a run must not give to another call.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIds {
    /// `None` until the first call of the run, because most runs have none.
    taken: Option<HashSet<Text>>,
    /// The next suffix to try. It only grows, so all searches of a run together take at most one step per id.
    next: u32,
}

impl PartialEq for CallIds {
    /// The set is derived from the rest of the run's state.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl CallIds {
    /// Returns the id, or a new one if the conversation already contains it. Some servers restart the numbering of
    /// calls in each answer, and a transcript needs one id per call.
    pub(super) fn unused(&mut self, id: &Text, known: impl Iterator<Item = Text>) -> Text {
        let taken = self.taken.get_or_insert_with(|| known.collect());
        let mut unused = id.clone();
        while !taken.insert(unused.clone()) {
            self.next = self.next.max(1).saturating_add(1);
            unused = format!("{id}-{}", self.next).into();
        }
        unused
    }
}

/// Returns a replacement for an id that a client could not return: empty, too long, or with control characters. The
/// replacement of an id is always the same.
pub(super) fn replacement(id: &str, max_bytes: usize) -> Option<Text> {
    // Leave room for the suffix of a repeated id.
    let is_usable = !id.is_empty()
        && id.len().saturating_add(16) <= max_bytes.max(32)
        && !id.chars().any(char::is_control);
    if is_usable {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    Some(format!("call-{:016x}", hasher.finish()).into())
}

/// Returns the metadata with the provider's id of a call added.
pub(super) fn with_provider_id(metadata: Option<ProviderMetadata>, id: &Text) -> ProviderMetadata {
    let mut metadata = metadata.unwrap_or_default();
    metadata.insert(PROVIDER_CALL, serde_json::json!({ "id": id }));
    metadata
}

/// Returns the conversation with the provider's ids of its calls.
pub(super) fn for_provider(transcript: &[TranscriptItem]) -> Vec<TranscriptItem> {
    let mut renamed = HashMap::new();
    let mut items = transcript.to_vec();
    for item in &mut items {
        match item {
            TranscriptItem::Call(call) => {
                let id = call.metadata.as_mut().and_then(|metadata| metadata.remove(PROVIDER_CALL));
                let id = id.as_ref().and_then(|entry| entry.get("id")?.as_str()).map(Text::from);
                if let Some(id) = id {
                    renamed.insert(std::mem::replace(&mut call.id, id.clone()), id);
                }
                if call.metadata.as_ref().is_some_and(|metadata| metadata.is_empty()) {
                    call.metadata = None;
                }
            }
            TranscriptItem::Result(result) => {
                if let Some(id) = renamed.get(&result.call_id) {
                    result.call_id = id.clone();
                }
            }
            _ => {}
        }
    }
    items
}

/// Returns `true` if a call of the conversation has a different id at its provider.
pub(super) fn is_renamed(transcript: &[TranscriptItem]) -> bool {
    let mut metadata = transcript.iter().filter_map(|item| item.as_call()?.metadata.as_ref());
    metadata.any(|metadata| metadata.contains_key(PROVIDER_CALL))
}
