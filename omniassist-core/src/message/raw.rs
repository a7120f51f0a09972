//! Posted JSON, one level at a time.
//!
//! A body is walked once. The values of known keys are kept as the slices of the body that they are, and each is
//! looked into only by whoever needs it, so that a value of the wrong kind leads to an error with its exact path, and
//! text without escapes is shared with the body instead of copied.

use std::borrow::Cow;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::cursor::Checks;
pub(crate) use super::cursor::{Cursor, Seed};
use super::tree::{self, TreeBudget};
use crate::json_scan::unescape;
use crate::{Error, JsonText, Result, Text, json_guard};

/// An object whose known keys are kept.
pub(crate) trait Record<'a> {
    /// Takes the value of `key`, or skips it. `false` when `key` was there before; its value is then still to be read.
    fn set(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<bool>;
}

/// A posted value as it was written. It has been parsed once, so it is known to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Text that was parsed before, without white space around it.
    pub(super) fn known(json: &'a str) -> Self {
        Self(json)
    }

    /// The text, without white space around it.
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

/// Declares a [`Record`] that keeps each value as it came.
macro_rules! raw_record {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $key:literal,)* }) => {
        $(#[$meta])*
        #[derive(Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<$crate::message::raw::Raw<'a>>,)*
        }

        impl<'a> $name<'a> {
            /// Where the value of a known key goes.
            fn slot(&mut self, key: &str) -> Option<&mut Option<$crate::message::raw::Raw<'a>>> {
                Some(match key {
                    $($key => &mut self.$field,)*
                    _ => return None,
                })
            }
        }

        impl<'a> $crate::message::raw::Record<'a> for $name<'a> {
            fn set(&mut self, key: &str, cursor: &mut $crate::message::raw::Cursor<'a>) -> Option<bool> {
                let Some(slot) = self.slot(key) else {
                    cursor.skip()?;
                    return Some(true);
                };
                if slot.is_some() {
                    return Some(false);
                }
                *slot = Some(cursor.raw()?);
                Some(true)
            }
        }
    };
}
pub(crate) use raw_record;

/// What stood where a `T` was expected.
pub(crate) enum Found<T> {
    /// The thing itself.
    Value(T),
    /// An object with a known key twice.
    Duplicate(String),
    /// An array with more elements than allowed.
    TooMany,
    /// Something of another kind.
    Other(&'static str),
}

impl<T> Found<T> {
    /// The same with another value.
    pub(crate) fn map<U>(self, of: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Value(value) => Found::Value(of(value)),
            Self::Duplicate(key) => Found::Duplicate(key),
            Self::TooMany => Found::TooMany,
            Self::Other(kind) => Found::Other(kind),
        }
    }

    /// The value, or the error that says what stands at `path` instead. `limit` is the name and value of the array's
    /// limit.
    pub(crate) fn at(
        self,
        path: impl fmt::Display,
        expected: &'static str,
        limit: (&'static str, usize),
    ) -> Result<T> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Duplicate(key) => {
                Err(Error::invalid_field(key, "a key once", "the key twice").under(&path.to_string()))
            }
            Self::TooMany => Err(Error::limit_exceeded(limit.0, limit.1, path.to_string())),
            Self::Other(kind) => Err(Error::invalid_field(path.to_string(), expected, kind)),
        }
    }

    /// [`at`](Self::at) for what is not an array.
    pub(crate) fn object_at(self, path: impl fmt::Display, expected: &'static str) -> Result<T> {
        self.at(path, expected, ("", usize::MAX))
    }
}

/// Reads an object into a [`Record`].
pub(crate) struct ObjectSeed<R>(pub(crate) R);

impl<'a, R: Record<'a>> Seed<'a> for ObjectSeed<R> {
    type Value = Found<R>;

    fn read(self, cursor: &mut Cursor<'a>) -> Option<Found<R>> {
        cursor.object(self.0)
    }
}

/// Reads an array of at most `limit` elements, each with the seed that `item` makes. Elements beyond the limit are
/// skipped, so they cost no memory.
pub(crate) struct ArraySeed<F> {
    pub(crate) limit: usize,
    pub(crate) item: F,
}

impl<'a, S: Seed<'a>, F: Fn() -> S> Seed<'a> for ArraySeed<F> {
    type Value = Found<Vec<S::Value>>;

    fn read(self, cursor: &mut Cursor<'a>) -> Option<Self::Value> {
        cursor.array(self.limit, self.item)
    }
}

/// Reads whatever stands there as the slice that it is.
pub(crate) struct RawSeed;

impl<'a> Seed<'a> for RawSeed {
    type Value = Raw<'a>;

    fn read(self, cursor: &mut Cursor<'a>) -> Option<Raw<'a>> {
        cursor.raw()
    }
}

/// Reads whatever stands there as the slice that it is.
pub(crate) fn raw_item() -> RawSeed {
    RawSeed
}

/// Reads all of `json` with a seed.
pub(crate) fn read<'a, S: Seed<'a>>(json: &'a str, seed: S) -> Result<S::Value> {
    walk(json, Checks::Json, seed).ok_or_else(|| not_json(json))
}

/// Reads all of `json` with the seed that `seed` makes, where [`json_guard::check`] lets it pass. One walk does both.
pub(crate) fn read_guarded<'a, S: Seed<'a>>(
    json: &'a str,
    max_depth: usize,
    seed: impl Fn() -> S,
) -> Result<S::Value> {
    if let Some(value) = walk(json, Checks::Guard { max_depth }, seed()) {
        return Ok(value);
    }
    json_guard::check(json.as_bytes(), max_depth)?;
    read(json, seed())
}

fn walk<'a, S: Seed<'a>>(json: &'a str, checks: Checks, seed: S) -> Option<S::Value> {
    let mut cursor = Cursor::new(json, checks);
    let value = seed.read(&mut cursor)?;
    cursor.is_at_end().then_some(value)
}

/// What serde_json says of text that is not JSON, or has a key that is no text.
fn not_json(json: &str) -> Error {
    let syntax = serde_json::from_str::<IgnoredAny>(json).err();
    match syntax.or_else(|| serde_json::from_str::<serde_json::Value>(json).err()) {
        Some(error) => Error::invalid_json(error),
        None => Error::invalid_json("a key is no text"),
    }
}

/// Reads an object whose values are wanted as they came. It has been walked before.
pub(crate) fn object<'a, R: Record<'a> + Default>(raw: Raw<'a>) -> Result<Found<R>> {
    walk(raw.get(), Checks::Known, ObjectSeed(R::default())).ok_or_else(|| not_json(raw.get()))
}

/// What kind of value this is.
pub(crate) fn kind(raw: Raw<'_>) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// What kind of value this is, or `nothing`.
pub(crate) fn kind_of(raw: Option<Raw<'_>>) -> &'static str {
    raw.map_or("nothing", kind)
}

/// The value unless it is absent or null: clients write either for what they do not have.
pub(crate) fn present(raw: Option<Raw<'_>>) -> Option<Raw<'_>> {
    raw.filter(|raw| raw.get() != "null")
}

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

    /// A string that must be there, to compare with: nothing is shared for it.
    pub(crate) fn word(self, raw: Option<Raw<'a>>, key: &str) -> Result<Cow<'a, str>> {
        let content = raw.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
        match content {
            Some(content) if memchr::memchr(b'\\', content.as_bytes()).is_none() => {
                Ok(Cow::Borrowed(content))
            }
            _ => self.text(raw, key).map(|text| Cow::Owned(text.into())),
        }
    }

    /// A string that must be there.
    pub(crate) fn text(self, raw: Option<Raw<'_>>, key: &str) -> Result<Text> {
        match raw {
            Some(raw) if raw.get().starts_with('"') => self.string(raw, key),
            _ => Err(Error::invalid_field(key, "a string", kind_of(raw))),
        }
    }

    /// A string that may be absent or null.
    pub(crate) fn optional_text(self, raw: Option<Raw<'_>>, key: &str) -> Result<Option<Text>> {
        match present(raw) {
            Some(raw) => self.text(Some(raw), key).map(Some),
            None => Ok(None),
        }
    }

    fn string(self, raw: Raw<'_>, key: &str) -> Result<Text> {
        let quoted = raw.get();
        let content = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        if memchr::memchr(b'\\', content.as_bytes()).is_none() {
            return Ok(self.text.slice_ref(content));
        }
        // The only fault that the first walk lets pass inside a string is half of a surrogate pair.
        let text = unescape(content)
            .ok_or_else(|| Error::invalid_field(key, "a string", "a string with half a surrogate pair"))?;
        Ok(text.into())
    }

    /// A value as it was written.
    pub(crate) fn json(self, raw: Raw<'_>) -> JsonText {
        JsonText::from_raw(self.text.slice_ref(raw.get()))
    }
}

/// A boolean that may be absent or null.
pub(crate) fn flag(raw: Option<Raw<'_>>, key: &str) -> Result<bool> {
    match present(raw).map(Raw::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::invalid_field(key, "a boolean", kind_of(raw))),
    }
}
