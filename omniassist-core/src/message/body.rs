use std::borrow::Cow;

use serde_json::{Map, Value};

use super::raw::{Raw, kind, kind_of, present};
use super::tree::{self, TreeBudget};
use crate::json_tokens::Quoted;
use crate::{Error, JsonText, Result, Text};

/// The text of a posted body. Values share its buffer.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) text: &'a Text,
    /// The remaining memory for trees, and the remaining number of parts, of this body.
    budget: &'a TreeBudget,
}

impl<'a> Body<'a> {
    pub(crate) fn new(text: &'a Text, budget: &'a TreeBudget) -> Self {
        Self { text, budget }
    }

    /// Counts a part of a message.
    pub(crate) fn count_part(self) -> Result<()> {
        self.budget.count_part()
    }

    /// Parses a value as a tree.
    pub(crate) fn tree(self, raw: Raw<'_>, key: &str) -> Result<Value> {
        tree::tree(raw, key, self.budget)
    }

    /// Parses an object as a tree. Returns `None` if it is absent or null.
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

    /// Parses a required string for comparisons. The result does not share the body's buffer.
    pub(crate) fn word(self, raw: Option<Raw<'a>>, key: &str) -> Result<Cow<'a, str>> {
        let content = raw.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
        match content {
            Some(content) if memchr::memchr(b'\\', content.as_bytes()).is_none() => {
                Ok(Cow::Borrowed(content))
            }
            _ => self.text(raw, key).map(|text| Cow::Owned(text.into())),
        }
    }

    /// Parses a required string.
    pub(crate) fn text(self, raw: Option<Raw<'_>>, key: &str) -> Result<Text> {
        match raw {
            Some(raw) if raw.get().starts_with('"') => self.string(raw, key),
            _ => Err(Error::invalid_field(key, "a string", kind_of(raw))),
        }
    }

    /// Parses an optional string.
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
            // The text was checked before, so no other error can occur.
            Cow::Owned(content) => String::from_utf8(content)
                .map(Text::from)
                .map_err(|_| Error::invalid_field(key, "a string", "a string with half a surrogate pair")),
        }
    }

    /// Returns a value unchanged.
    pub(crate) fn json(self, raw: Raw<'_>) -> JsonText {
        JsonText::from_raw(self.text.slice_ref(raw.get()))
    }
}
