//! Posted JSON, one level at a time.
//!
//! A body is walked once. The values of known keys are kept as the slices of the body that they are, and each is
//! looked into only by whoever needs it, so that a value of the wrong kind leads to an error with its exact path, and
//! text without escapes is shared with the body instead of copied.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::members;
use crate::json_scan::unescape;
use crate::{Error, JsonText, Result, Text};

/// An object whose known keys are kept.
pub(crate) trait Record<'de> {
    /// Takes the value of `key`, or skips it. `false` when `key` was there before; its value is then still to be read.
    fn set<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// A [`Record`] that keeps all values as they came.
pub(crate) trait FlatRecord<'a>: Record<'a> + Default {
    /// Takes the value of `key`, or leaves it. `false` when `key` was there before.
    fn put(&mut self, key: &str, value: Raw<'a>) -> bool;
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

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
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

        impl<'de> $crate::message::raw::Record<'de> for $name<'de> {
            fn set<A: serde::de::MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                let Some(slot) = self.slot(key) else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    return Ok(true);
                };
                if slot.is_some() {
                    return Ok(false);
                }
                *slot = Some(map.next_value()?);
                Ok(true)
            }
        }

        impl<'a> $crate::message::raw::FlatRecord<'a> for $name<'a> {
            fn put(&mut self, key: &str, value: $crate::message::raw::Raw<'a>) -> bool {
                match self.slot(key) {
                    Some(slot) if slot.is_some() => false,
                    Some(slot) => {
                        *slot = Some(value);
                        true
                    }
                    None => true,
                }
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
    /// The same, by reference.
    pub(crate) fn as_ref(&self) -> Found<&T> {
        match self {
            Self::Value(value) => Found::Value(value),
            Self::Duplicate(key) => Found::Duplicate(key.clone()),
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

impl<'de, R: Record<'de>> DeserializeSeed<'de> for ObjectSeed<R> {
    type Value = Found<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visits what is neither an array nor an object.
macro_rules! other_kinds {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Found::Other("a boolean"))
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Found::Other("a number"))
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Found::Other("a number"))
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Found::Other("a number"))
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Found::Other("a string"))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Found::Other("null"))
        }
    };
}

impl<'de, R: Record<'de>> Visitor<'de> for ObjectSeed<R> {
    type Value = Found<R>;

    other_kinds!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut duplicate = None;
        while let Some(key) = map.next_key_seed(KeySeed)? {
            if !self.0.set(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
                duplicate = Some(key.into_owned());
            }
        }
        Ok(match duplicate {
            Some(key) => Found::Duplicate(key),
            None => Found::Value(self.0),
        })
    }
}

/// Reads a key without copying it where it has no escapes.
pub(crate) struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// Reads an array of at most `limit` elements, each with the seed that `item` makes. Elements beyond the limit are
/// skipped, so they cost no memory.
pub(crate) struct ArraySeed<F> {
    pub(crate) limit: usize,
    pub(crate) item: F,
}

impl<'de, S: DeserializeSeed<'de>, F: Fn() -> S> DeserializeSeed<'de> for ArraySeed<F> {
    type Value = Found<Vec<S::Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: DeserializeSeed<'de>, F: Fn() -> S> Visitor<'de> for ArraySeed<F> {
    type Value = Found<Vec<S::Value>>;

    other_kinds!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.limit {
            match seq.next_element_seed((self.item)())? {
                Some(item) => items.push(item),
                None => return Ok(Found::Value(items)),
            }
        }
        let mut more = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok(if more { Found::TooMany } else { Found::Value(items) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Other("an object"))
    }
}

/// Reads whatever stands there as the slice that it is.
pub(crate) fn raw_item<'de>() -> std::marker::PhantomData<Raw<'de>> {
    std::marker::PhantomData
}

/// Reads all of `json` with a seed.
pub(crate) fn read<'de, S: DeserializeSeed<'de>>(json: &'de str, seed: S) -> Result<S::Value> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = seed.deserialize(&mut deserializer).map_err(Error::invalid_json)?;
    deserializer.end().map_err(Error::invalid_json)?;
    Ok(value)
}

/// Reads an object whose values are wanted as they came.
pub(crate) fn object<'a, R: FlatRecord<'a>>(raw: Raw<'a>) -> Result<Found<R>> {
    match members::read(raw) {
        Some(found) => Ok(found),
        // A key that is no text: an error, which serde tells.
        None => read(raw.get(), ObjectSeed(R::default())),
    }
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

/// The text that posted JSON stands in: values are shared with it.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a>(pub(crate) &'a Text);

impl Body<'_> {
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
            return Ok(self.0.slice_ref(content));
        }
        // The only fault that the first walk lets pass inside a string is half of a surrogate pair.
        let text = unescape(content)
            .ok_or_else(|| Error::invalid_field(key, "a string", "a string with half a surrogate pair"))?;
        Ok(text.into())
    }

    /// A value as it was written.
    pub(crate) fn json(self, raw: Raw<'_>) -> JsonText {
        JsonText::from_raw(self.0.slice_ref(raw.get()))
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
