//! A provider's metadata in a conversation: `{"openai": {"itemId": …}}`.

use omniassist_core::message::ProviderMetadata;
use serde_json::{Map, Value};

/// The metadata of one provider, named by the first level.
#[derive(Clone, Copy)]
pub(super) struct Namespace(pub(super) &'static str);

impl Namespace {
    /// Returns a field of the provider's metadata.
    pub(super) fn field<'a>(self, state: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a Value> {
        state?.get(self.0)?.get(name)
    }

    /// Returns a string of the provider's metadata, unless it is absent or empty.
    pub(super) fn text<'a>(self, state: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
        self.field(state, name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns these fields as the provider's metadata; `None` if there are none.
    pub(super) fn state(
        self,
        fields: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Option<ProviderMetadata> {
        let fields: Map<_, _> = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        (!fields.is_empty()).then(|| ProviderMetadata::of(self.0, fields))
    }
}
