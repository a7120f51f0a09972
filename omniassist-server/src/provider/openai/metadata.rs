//! The names of the state that comes back with a conversation: `{"openai": {"itemId": …}}`.

use omniassist_core::message::ProviderMetadata;
use serde_json::{Map, Value};

/// The first level: whose state it is.
pub(super) const NAMESPACE: &str = "openai";
/// Id of the output item.
pub(super) const ITEM_ID: &str = "itemId";
/// The model's thoughts, readable to the provider only.
pub(super) const ENCRYPTED_CONTENT: &str = "reasoningEncryptedContent";
/// `true` if a reasoning block is raw reasoning and no summary.
pub(super) const RAW_REASONING: &str = "rawReasoning";
/// The phase of a message: commentary or the final answer.
pub(super) const PHASE: &str = "phase";
/// The state that a Chat Completions server wants back with a tool call (Gemini's thought signature).
pub(super) const EXTRA_CONTENT: &str = "extraContent";

/// The reasoning that OpenRouter wants back: signatures and encrypted data among it.
pub(super) const REASONING_DETAILS: &str = "reasoningDetails";

/// A field of our own state, if it is there.
pub(super) fn field<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a Value> {
    metadata?.get(NAMESPACE)?.get(name)
}

/// The same for a string that is not empty.
pub(super) fn text<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    field(metadata, name)?.as_str().filter(|text| !text.is_empty())
}

/// Fields as they go out with an event, if there are any.
pub(super) fn state(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Option<ProviderMetadata> {
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (!fields.is_empty()).then(|| ProviderMetadata::of(NAMESPACE, fields))
}
