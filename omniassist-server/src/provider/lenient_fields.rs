//! Lenient deserialization of JSON: a field that is null, absent or of an undocumented type does not invalidate the
//! other fields. Strings without escapes borrow from the input.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use omniassist_core::Text;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::value::RawValue;

/// A string field. Null, lists and objects are absent, and a number is its digits.
///
/// Serde borrows a plain `Cow` but not an `Option<Cow>`; this type always borrows.
#[derive(Debug, Default)]
pub(super) struct Str<'a>(Option<Cow<'a, str>>);

impl<'a> Str<'a> {
    /// Returns the string; empty if absent.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the string, unless it is absent or empty.
    pub(super) fn non_empty(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// Returns a copy of the string, unless it is absent or empty.
    pub(super) fn to_text(&self) -> Option<Text> {
        self.non_empty().map(Text::from)
    }

    /// Returns the string as a part of `whole`, the text that contained it. A string with escapes is owned.
    pub(super) fn into_view(self, whole: &Text) -> Text {
        match self.0 {
            Some(Cow::Borrowed(part)) => whole.slice_ref(part),
            Some(Cow::Owned(text)) => text.into(),
            None => Text::new(),
        }
    }
}

impl<'de: 'a, 'a> Lenient<'de> for Str<'a> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }

    fn number(number: Number) -> Self {
        Self(Some(Cow::Owned(number.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// A count or an index. A value that is not a whole number is absent.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Num(pub(super) Option<u64>);

impl<'de> Lenient<'de> for Num {
    fn text(text: Cow<'de, str>) -> Self {
        Self(text.parse().ok())
    }

    fn number(number: Number) -> Self {
        // Counts are far below 2^53, up to which a float is exact; the cast saturates.
        let whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
        Self(number.as_u64().or_else(|| number.as_f64().filter(whole).map(|number| number as u64)))
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// A list that usually has one element, for which it needs no allocation. Null elements are dropped, and a value of
/// another type is an empty list.
#[derive(Debug)]
pub(super) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, rest: Vec::new() }
    }
}

impl<T> Few<T> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.rest)
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for Few<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut few = Self::default();
        while let Some(element) = list.next_element::<Option<T>>()? {
            match element {
                Some(element) if few.first.is_none() => few.first = Some(element),
                Some(element) => few.rest.push(element),
                None => {}
            }
        }
        Ok(few)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// A type into which every JSON value deserializes. Values that an implementation does not handle become the default.
pub(super) trait Lenient<'de>: Default {
    fn text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn number(_number: Number) -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Deserializes a value of any type.
pub(super) fn lenient<'de, T: Lenient<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Any<T>(PhantomData<T>);

    impl<'de, T: Lenient<'de>> Visitor<'de> for Any<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
            Ok(T::text(Cow::Borrowed(text)))
        }

        fn visit_str<E>(self, text: &str) -> Result<T, E> {
            Ok(T::text(Cow::Owned(text.to_owned())))
        }

        fn visit_u64<E>(self, number: u64) -> Result<T, E> {
            Ok(T::number(number.into()))
        }

        fn visit_i64<E>(self, number: i64) -> Result<T, E> {
            Ok(T::number(number.into()))
        }

        fn visit_f64<E>(self, number: f64) -> Result<T, E> {
            Ok(Number::from_f64(number).map(T::number).unwrap_or_default())
        }

        fn visit_bool<E>(self, _: bool) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_unit<E>(self) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
            T::list(list)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(T::default())
        }
    }

    deserializer.deserialize_any(Any(PhantomData))
}

/// Returns the text of a field that is documented as a string of JSON, but may also be the JSON itself. A string
/// returns its content as a part of `whole`, null an empty text, and any other value its JSON.
pub(super) fn string_or_json(raw: Option<&RawValue>, whole: &Text) -> Text {
    let json = raw.map(RawValue::get).unwrap_or_default();
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => whole.slice_ref(plain),
        Some(_) => serde_json::from_str::<String>(json).unwrap_or_default().into(),
        None if json == "null" => Text::new(),
        None => whole.slice_ref(json),
    }
}

/// Returns `true` if the text is one complete JSON value.
pub(super) fn is_complete_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
