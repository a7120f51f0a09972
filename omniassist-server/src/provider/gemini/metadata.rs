//! Metadata that is sent back with a conversation: `{"google": {"thoughtSignature": …}}`.

use omniassist_core::Text;
use omniassist_core::message::ProviderMetadata;

use crate::provider::metadata::Namespace;

/// The first level: the provider. Vertex AI and the Gemini API accept each other's signatures.
pub(super) const STATE: Namespace = Namespace("google");
/// The model's thoughts in encrypted form.
pub(super) const THOUGHT_SIGNATURE: &str = "thoughtSignature";
/// The prefix of generated ids, for calls without an id. Such an id is not sent back.
const MINTED: &str = "gemini_";

/// Returns the signature of a part of the conversation.
pub(super) fn signature(metadata: Option<&ProviderMetadata>) -> Option<&str> {
    STATE.text(metadata, THOUGHT_SIGNATURE)
}

/// Returns a signature as metadata.
pub(super) fn state(signature: Option<Text>) -> Option<ProviderMetadata> {
    STATE.state(signature.map(|signature| (THOUGHT_SIGNATURE, signature.as_str().into())))
}

/// Returns the id of the `number`-th call of an answer, for a call without one.
pub(super) fn minted_id(mint: &str, number: u32) -> Text {
    format!("{MINTED}{mint}_{number}").into()
}

/// Returns the id if the API sent it.
pub(super) fn own_id(id: &Text) -> Option<&Text> {
    (!id.starts_with(MINTED)).then_some(id)
}
