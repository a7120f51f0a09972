use std::borrow::Cow;

use serde_json::{Map, Value};

use super::raw::{Raw, kind, kind_of, present};
use super::tree::{self, TreeBudget};
use crate::json_tokens::Quoted;
use crate::{Error, JsonText, Result, Text};

/// The text that posted JSON stands in. Values are shared with it.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) text: &'a Text,
    /// The memory that trees of this body may still take.
    budget: &'a TreeBudget,
}

impl<'a> Body<'a> {
    pub(crate) fn new(text: &'a Text, budget: &'a TreeBudget) -> Self {
        Self { text, budget }
    }

    /// Reads a value as a tree.
    pub(crate) fn tree(self, raw: Raw<'_>, key: &str) -> Result<Value> {
        tree::tree(raw, key, self.budget)
    }

    /// Reads an object as a tree; `None` where it is absent or null.
    pub(crate) fn optional_object(
        self,
        raw: Option<Raw<'_>>,
        key: &str,
    ) -> Result<Option<Map<String, Value>>> {
        let Some(raw) = present(raw) else { return Ok(None) };
        match self.tree(raw, key)? {
            Value::Object(object) => Ok(Some(object)),
            _ => Err(Error::invalid_field(key, "an object", kind(raw))),
        }
    }

    /// Reads a required string to compare with. It shares nothing with the body.
    pub(crate) fn word(self, raw: Option<Raw<'a>>, key: &str) -> Result<Cow<'a, str>> {
        let content = raw.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
        match content {
            Some(content) if memchr::memchr(b'\\', content.as_bytes()).is_none() => {
                Ok(Cow::Borrowed(content))
            }
            _ => self.text(raw, key).map(|text| Cow::Owned(text.into())),
        }
    }

    /// Reads a required string.
    pub(crate) fn text(self, raw: Option<Raw<'_>>, key: &str) -> Result<Text> {
        match raw {
            Some(raw) if raw.get().starts_with('"') => self.string(raw, key),
            _ => Err(Error::invalid_field(key, "a string", kind_of(raw))),
        }
    }

    /// Reads a string that may be absent or null.
    pub(crate) fn optional_text(self, raw: Option<Raw<'_>>, key: &str) -> Result<Option<Text>> {
        match present(raw) {
            Some(raw) => self.text(Some(raw), key).map(Some),
            None => Ok(None),
        }
    }

    fn string(self, raw: Raw<'_>, key: &str) -> Result<Text> {
        match Quoted::of(raw.get().as_bytes()).decode() {
            Cow::Borrowed(content) => {
                let content = raw.get().get(1..=content.len());
                Ok(self.text.slice_ref(content.unwrap_or_default()))
            }
            // No other fault is left in text that was walked over before.
            Cow::Owned(content) => String::from_utf8(content)
                .map(Text::from)
                .map_err(|_| Error::invalid_field(key, "a string", "a string with half a surrogate pair")),
        }
    }

    /// Returns a value as it was written.
    pub(crate) fn json(self, raw: Raw<'_>) -> JsonText {
        JsonText::from_raw(self.text.slice_ref(raw.get()))
    }
}
