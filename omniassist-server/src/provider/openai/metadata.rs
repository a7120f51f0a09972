//! The names of the metadata that is sent back with a conversation: `{"openai": {"itemId": …}}`.

use crate::provider::metadata::Namespace;

/// The first level: the provider.
pub(super) const STATE: Namespace = Namespace("openai");
pub(super) const ITEM_ID: &str = "itemId";
/// The model's reasoning in encrypted form.
pub(super) const ENCRYPTED_CONTENT: &str = "reasoningEncryptedContent";
/// `true` if a reasoning block is raw reasoning, not a summary.
pub(super) const RAW_REASONING: &str = "rawReasoning";
/// The phase of a message: commentary or the final answer.
pub(super) const PHASE: &str = "phase";
/// The metadata of a tool call that a Chat Completions server requires back (Gemini's thought signature).
pub(super) const EXTRA_CONTENT: &str = "extraContent";

/// The reasoning that OpenRouter requires back, including signatures and encrypted data.
pub(super) const REASONING_DETAILS: &str = "reasoningDetails";
