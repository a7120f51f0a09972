//! Posted JSON, one level at a time.
//!
//! The values of known keys are kept as the slices of the body that they are (`serde_json`'s raw values). Each is parsed
//! where it is needed, so a value of the wrong kind leads to an error with its exact path, and text without escapes is
//! shared with the body instead of copied.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, Result, json_guard};

/// An object whose known keys are kept.
pub(crate) trait Record<'a> {
    /// Takes the value of `key`, or skips it. Returns `false`, and leaves the value, when `key` was there before.
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// A posted value as it was written. It has been walked once, so it is known to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Returns the text, without white space around it.
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Raw(raw.get()))
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
            /// Returns the place for the value of a known key.
            fn slot(&mut self, key: &str) -> Option<&mut Option<$crate::message::raw::Raw<'a>>> {
                Some(match key {
                    $($key => &mut self.$field,)*
                    _ => return None,
                })
            }
        }

        impl<'a> $crate::message::raw::Record<'a> for $name<'a> {
            fn set<A: serde::de::MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                let Some(slot) = self.slot(key) else {
                    return map.next_value::<serde::de::IgnoredAny>().map(|_| true);
                };
                if slot.is_some() {
                    return Ok(false);
                }
                *slot = Some(map.next_value()?);
                Ok(true)
            }
        }
    };
}
pub(crate) use raw_record;

/// The value found where a `T` was expected.
pub(crate) enum Found<T> {
    /// The expected value.
    Value(T),
    /// An object with a known key twice.
    Duplicate(String),
    /// An array with more elements than allowed.
    TooMany,
    /// Something of another kind.
    Other(&'static str),
}

impl<T> Found<T> {
    /// Maps the value.
    pub(crate) fn map<U>(self, of: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Value(value) => Found::Value(of(value)),
            Self::Duplicate(key) => Found::Duplicate(key),
            Self::TooMany => Found::TooMany,
            Self::Other(kind) => Found::Other(kind),
        }
    }

    /// Returns the value, or an error with `path`. `limit` is the name and value of the array's limit.
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

    /// Like [`at`](Self::at), for objects.
    pub(crate) fn object_at(self, path: impl fmt::Display, expected: &'static str) -> Result<T> {
        self.at(path, expected, ("", usize::MAX))
    }
}

/// The methods of a visitor that finds a scalar where it expects an object or an array.
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

/// Reads an object into a [`Record`].
pub(crate) struct ObjectSeed<R>(pub(crate) R);

impl<'de, R: Record<'de>> DeserializeSeed<'de> for ObjectSeed<R> {
    type Value = Found<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found<R>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: Record<'de>> Visitor<'de> for ObjectSeed<R> {
    type Value = Found<R>;

    other_kinds!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Found<R>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Found<R>, A::Error> {
        let mut duplicate = None;
        while let Some(Key(key)) = map.next_key()? {
            if !self.0.set(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
                duplicate = Some(key.into_owned());
            }
        }
        Ok(duplicate.map_or(Found::Value(self.0), Found::Duplicate))
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

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(key.to_owned())))
    }
}

/// Returns a seed that keeps any value as the slice that it is.
pub(crate) fn raw_item<'a>() -> std::marker::PhantomData<Raw<'a>> {
    std::marker::PhantomData
}

/// Reads all of `json` with a seed.
pub(crate) fn read<'a, S: DeserializeSeed<'a>>(json: &'a str, seed: S) -> Result<S::Value> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = seed.deserialize(&mut deserializer).map_err(Error::invalid_json)?;
    deserializer.end().map_err(Error::invalid_json)?;
    Ok(value)
}

/// Reads all of `json` with a seed, where [`json_guard::check`] accepts it.
pub(crate) fn read_guarded<'a, S: DeserializeSeed<'a>>(
    json: &'a str,
    max_depth: usize,
    seed: S,
) -> Result<S::Value> {
    json_guard::check(json.as_bytes(), max_depth)?;
    read(json, seed)
}

/// Reads an object whose values are kept as they came.
pub(crate) fn object<'a, R: Record<'a> + Default>(raw: Raw<'a>) -> Result<Found<R>> {
    read(raw.get(), ObjectSeed(R::default()))
}

/// Returns the kind of a value, as errors name it.
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

/// Returns the kind of a value, or `nothing`.
pub(crate) fn kind_of(raw: Option<Raw<'_>>) -> &'static str {
    raw.map_or("nothing", kind)
}

/// Returns the value unless it is absent or null. Clients write either for a missing value.
pub(crate) fn present(raw: Option<Raw<'_>>) -> Option<Raw<'_>> {
    raw.filter(|raw| raw.get() != "null")
}

/// Reads a boolean that may be absent or null.
pub(crate) fn flag(raw: Option<Raw<'_>>, key: &str) -> Result<bool> {
    match present(raw).map(Raw::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::invalid_field(key, "a boolean", kind_of(raw))),
    }
}
