//! A provider's metadata in a conversation: `{"openai": {"itemId": …}}`.

use std::sync::Arc;

use omniassist_core::TranscriptItem;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::ToolCall;
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

    /// Returns a transcript without these fields of the provider; `None` if it has none already.
    pub(super) fn without(
        self,
        names: &[&str],
        transcript: &[TranscriptItem],
    ) -> Option<Arc<[TranscriptItem]>> {
        let mut has_changed = false;
        let items = transcript.iter().cloned().map(|mut item| {
            let (TranscriptItem::Text { metadata, .. }
            | TranscriptItem::Reasoning { metadata, .. }
            | TranscriptItem::Call(ToolCall { metadata, .. })) = &mut item
            else {
                return item;
            };
            if let Some(state) = metadata
                && let Some(Value::Object(mut fields)) = state.remove(self.0)
            {
                for name in names {
                    has_changed |= fields.remove(*name).is_some();
                }
                state.insert(self.0, Value::Object(fields));
            }
            item
        });
        let items = items.collect();
        has_changed.then_some(items)
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
