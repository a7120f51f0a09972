//! State that comes back with a conversation: `{"google": {"thoughtSignature": …}}`.

use omniassist_core::Text;
use omniassist_core::message::ProviderMetadata;

use crate::provider::metadata::Namespace;

/// The first level: whose state it is. Vertex AI and the Gemini API read each other's signatures.
pub(super) const STATE: Namespace = Namespace("google");
/// The model's thoughts, readable to the provider only.
const THOUGHT_SIGNATURE: &str = "thoughtSignature";
/// The beginning of the ids of calls that the API gave no id. Such an id is not sent back.
const MINTED: &str = "gemini_";

/// The signature that belongs to a piece of the conversation.
pub(super) fn signature(metadata: Option<&ProviderMetadata>) -> Option<&str> {
    STATE.text(metadata, THOUGHT_SIGNATURE)
}

/// A signature as state to carry.
pub(super) fn state(signature: Option<Text>) -> Option<ProviderMetadata> {
    STATE.state(signature.map(|signature| (THOUGHT_SIGNATURE, signature.as_str().into())))
}

/// The id of the `number`-th call of an answer that gave it none.
pub(super) fn minted_id(mint: &str, number: u32) -> Text {
    format!("{MINTED}{mint}_{number}").into()
}

/// The id as the API knows it.
pub(super) fn own_id(id: &Text) -> Option<&Text> {
    (!id.starts_with(MINTED)).then_some(id)
}
