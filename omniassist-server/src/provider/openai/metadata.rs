//! The names of the state that comes back with a conversation: `{"openai": {"itemId": …}}`.

use crate::provider::metadata::Namespace;

/// The first level: whose state it is.
pub(super) const STATE: Namespace = Namespace("openai");
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
