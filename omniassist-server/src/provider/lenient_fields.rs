//! Lenient reading of JSON: a field may be null, absent or of another type than documented, and the rest still counts.
//! Strings without escapes are views of the input.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use omniassist_core::Text;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string field. Null, a list and an object read as absent, a number as its digits.
///
/// Serde borrows a plain `Cow`, but reads an `Option<Cow>` as owned; this type borrows.
#[derive(Debug, Default)]
pub(super) struct Str<'a>(Option<Cow<'a, str>>);

impl<'a> Str<'a> {
    pub(super) fn borrowed(text: &'a str) -> Self {
        Self(Some(Cow::Borrowed(text)))
    }

    pub(super) fn owned(text: String) -> Self {
        Self(Some(Cow::Owned(text)))
    }

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

    /// Returns the string as a view of `whole`, the text that it was read from. A string with escapes is owned.
    pub(super) fn into_view(self, whole: &Text) -> Text {
        match self.0 {
            Some(Cow::Borrowed(part)) => whole.slice_ref(part),
            Some(Cow::Owned(text)) => text.into(),
            None => Text::new(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Strings;

        impl<'de> Visitor<'de> for Strings {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Owned(text))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Str(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Str(None))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Str(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                skip_seq(seq).map(|()| Str(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Str(None))
            }
        }

        deserializer.deserialize_any(Strings)
    }
}

/// A count or an index. A value that is not a whole number reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Num(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl<'de> Visitor<'de> for Numbers {
            type Value = Num;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Num, E> {
                Ok(Num(Some(number)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Num, E> {
                Ok(Num(u64::try_from(number).ok()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Num, E> {
                // Counts stay far below 2^53, where a float is exact; the cast saturates.
                let whole = number >= 0.0 && number.fract() == 0.0;
                Ok(Num(whole.then_some(number as u64)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Num, E> {
                Ok(Num(text.parse().ok()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Num, E> {
                Ok(Num(None))
            }

            fn visit_unit<E>(self) -> Result<Num, E> {
                Ok(Num(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Num, A::Error> {
                skip_seq(seq).map(|()| Num(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Num, A::Error> {
                skip_map(map).map(|()| Num(None))
            }
        }

        deserializer.deserialize_any(Numbers)
    }
}

/// A list that mostly holds one element. One element needs no allocation. Null elements are dropped, and a value of
/// another type reads as an empty list.
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

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Lists<T> {
            type Value = Few<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Few<T>, A::Error> {
                let mut few = Few::default();
                while let Some(element) = seq.next_element::<Option<T>>()? {
                    match element {
                        Some(element) if few.first.is_none() => few.first = Some(element),
                        Some(element) => few.rest.push(element),
                        None => {}
                    }
                }
                Ok(few)
            }

            fn visit_str<E>(self, _: &str) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_unit<E>(self) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Few<T>, A::Error> {
                skip_map(map).map(|()| Few::default())
            }
        }

        deserializer.deserialize_any(Lists(PhantomData))
    }
}

/// Returns the text of a field that holds a string or, against the documentation, the object that the string should
/// spell. A string gives its content as a view of `whole`, null gives an empty text, and anything else its JSON.
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

fn skip_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(borrow, default)]
        text: Str<'a>,
        #[serde(default)]
        count: Num,
        #[serde(borrow, default)]
        list: Few<Str<'a>>,
    }

    #[test]
    fn a_plain_string_is_a_view_and_an_escaped_one_is_not() {
        let whole = Text::from(r#"{"text":"plain","list":["a\nb"]}"#);
        let probe: Probe<'_> = serde_json::from_str(&whole).unwrap();
        assert!(matches!(probe.text.0, Some(Cow::Borrowed("plain"))));
        let view = probe.text.into_view(&whole);
        assert!(whole.as_bytes().as_ptr_range().contains(&view.as_bytes().as_ptr()));
        assert_eq!(probe.list.into_iter().next().unwrap().into_view(&whole), "a\nb");
    }

    #[test]
    fn wrong_types_read_as_absent() {
        for wrong in ["null", "{}", "[[1],{}]", "true", "-1.5"] {
            let json = format!(r#"{{"text":{wrong},"count":{wrong},"list":{wrong}}}"#);
            let probe: Probe<'_> = serde_json::from_str(&json).unwrap();
            assert_eq!(probe.count.0, None, "{wrong}");
            assert!(wrong == "-1.5" || probe.text.non_empty().is_none(), "{wrong}");
        }
        let probe: Probe<'_> = serde_json::from_str(r#"{"text":7,"count":3.0,"list":[null,"x"]}"#).unwrap();
        assert_eq!((probe.text.as_str(), probe.count.0, probe.list.len()), ("7", Some(3), 1));
    }

    #[test]
    fn arguments_come_as_a_string_or_as_an_object() {
        let read = |json: &str| {
            let whole = Text::from(json);
            let raw: &RawValue = serde_json::from_str(&whole).unwrap();
            string_or_json(Some(raw), &whole)
        };
        assert_eq!(read(r#""{\"a\":1}""#), r#"{"a":1}"#);
        assert_eq!(read(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(read(r#""""#), "");
        assert_eq!(read("null"), "");
    }
}
