//! The names of the state that comes back with a conversation: `{"anthropic": {"signature": …}}`.

use crate::provider::metadata::Namespace;

/// The first level: whose state it is.
pub(super) const STATE: Namespace = Namespace("anthropic");
/// The proof that a thinking block is the model's own.
pub(super) const SIGNATURE: &str = "signature";
/// The model's thoughts, readable to the provider only.
pub(super) const REDACTED_DATA: &str = "redactedData";
