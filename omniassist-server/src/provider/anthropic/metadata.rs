//! The names of the metadata that is sent back with a conversation: `{"anthropic": {"signature": …}}`.

use crate::provider::metadata::Namespace;

/// The first level: the provider.
pub(super) const STATE: Namespace = Namespace("anthropic");
/// The proof that the model wrote a thinking block.
pub(super) const SIGNATURE: &str = "signature";
/// The model's thinking in encrypted form.
pub(super) const REDACTED_DATA: &str = "redactedData";
