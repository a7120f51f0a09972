//! The names of the state that comes back with a conversation: `{"anthropic": {"signature": …}}`.

use omniassist_core::message::ProviderMetadata;
use serde_json::{Map, Value};

/// The first level: whose state it is.
pub(super) const NAMESPACE: &str = "anthropic";
/// The proof that a thinking block is the model's own.
pub(super) const SIGNATURE: &str = "signature";
/// The model's thoughts, readable to the provider only.
pub(super) const REDACTED_DATA: &str = "redactedData";

/// A field of our own state, unless it is absent or empty.
pub(super) fn text<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    metadata?.get(NAMESPACE)?.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// State with one field.
pub(super) fn of(name: &str, value: String) -> ProviderMetadata {
    let fields = Map::from_iter([(name.to_owned(), Value::String(value))]);
    ProviderMetadata::of(NAMESPACE, fields)
}
