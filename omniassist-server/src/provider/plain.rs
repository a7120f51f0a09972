//! Reading a delta in one pass, where it is as plain as deltas are.
//!
//! Nearly all that a provider sends are small objects of short strings, small whole numbers and literals, of which few
//! are of interest. A [`Plain`] reads them from the front, with one look at each byte. Everything else (an escape in a
//! key, a sign, a fraction, a field that comes twice, a form that is not expected) it leaves to serde, which is the
//! judge of what is JSON: what is read here, serde would read alike.

use std::borrow::Cow;

use omniassist_core::json_scan::plain_length;

/// How many lists and objects deep a value may be that is passed over.
const MAX_DEPTH: u32 = 8;

/// A place in a JSON text. Every method gives `None` for what is not plain; the place is then of no use any more.
//
// What is called for every field is inlined, and what is not takes and gives places by value: the compiler then keeps
// the place in a register.
pub(super) struct Plain<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Plain<'a> {
    /// Reads all of a text with `read`, behind which only white space may stand.
    #[inline]
    pub(super) fn read<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut json = Self { text, at: 0 };
        let value = read(&mut json)?;
        (json.at == text.len() || behind_blank(text.as_bytes(), json.at) == text.len()).then_some(value)
    }

    /// Reads an object of at least one field. `field` gets each key and has to read the value behind it.
    #[inline]
    pub(super) fn object(&mut self, mut field: impl FnMut(&'a [u8], &mut Self) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        loop {
            self.take(b'"')?;
            let key = self.content()?;
            self.take(b':')?;
            field(key, self)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads a list of one element with `element`.
    #[inline]
    pub(super) fn only<T>(&mut self, element: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.take(b'[')?;
        let element = element(self)?;
        self.take(b']')?;
        Some(element)
    }

    /// Reads a string without escapes, or null as an empty one.
    #[inline(always)]
    pub(super) fn str(&mut self) -> Option<&'a str> {
        match self.next()? {
            b'"' => {
                let from = self.at;
                let length = self.content()?.len();
                self.text.get(from..from + length)
            }
            b'n' => self.literal(b"ull").map(|()| ""),
            _ => None,
        }
    }

    /// Reads any string, or null as an empty one.
    #[inline(always)]
    pub(super) fn text(&mut self) -> Option<Cow<'a, str>> {
        let from = self.at;
        if let Some(text) = self.str() {
            return Some(Cow::Borrowed(text));
        }
        let (text, at) = escaped(self.text, from)?;
        self.at = at;
        Some(Cow::Owned(text))
    }

    /// Reads a whole number of at most 18 digits.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<u64> {
        let first = self.next()?;
        let (number, at) = digits(first, self.text.as_bytes(), self.at)?;
        self.at = at;
        Some(number)
    }

    /// Reads `true` or `false`.
    pub(super) fn bool(&mut self) -> Option<bool> {
        match self.next()? {
            b't' => self.literal(b"rue").map(|()| true),
            b'f' => self.literal(b"alse").map(|()| false),
            _ => None,
        }
    }

    /// Reads null.
    #[inline]
    pub(super) fn null(&mut self) -> Option<()> {
        self.take(b'n')?;
        self.literal(b"ull")
    }

    /// Reads null or an empty list.
    #[inline]
    pub(super) fn none(&mut self) -> Option<()> {
        match self.next()? {
            b'n' => self.literal(b"ull"),
            b'[' => self.take(b']'),
            _ => None,
        }
    }

    /// Passes over a plain value.
    #[inline(always)]
    pub(super) fn skip(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.content().map(drop),
            first => {
                self.at = behind_value(first, self.text, self.at, MAX_DEPTH)?;
                Some(())
            }
        }
    }

    /// Takes the next byte that is no white space.
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at)? {
            byte if *byte > b' ' => {
                self.at += 1;
                Some(*byte)
            }
            _ => {
                self.at = behind_blank(bytes, self.at) + 1;
                bytes.get(self.at - 1).copied()
            }
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Takes the rest of a literal.
    #[inline]
    fn literal(&mut self, rest: &[u8]) -> Option<()> {
        let end = self.at + rest.len();
        (self.text.as_bytes().get(self.at..end)? == rest).then_some(())?;
        self.at = end;
        Some(())
    }

    /// Takes the content of a string whose opening quote was taken.
    #[inline(always)]
    fn content(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let length = content_length(rest);
        let (content, behind) = rest.split_at_checked(length)?;
        (*behind.first()? == b'"').then_some(())?;
        self.at += length + 1;
        Some(content)
    }
}

/// How long a string is, as far as it is plain, whose opening quote was taken.
#[inline(never)]
fn content_length(bytes: &[u8]) -> usize {
    plain_length(bytes)
}

/// The first place from here that holds no white space.
#[cold]
fn behind_blank(bytes: &[u8], at: usize) -> usize {
    let blank = bytes.iter().skip(at).take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    at + blank.count()
}

/// A number by its first digit and what follows, and the place behind it.
fn digits(first: u8, bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
    let mut number = u64::from(digit(first)?);
    let mut at = at;
    let end = at + 17;
    loop {
        let byte = bytes.get(at).copied().unwrap_or_default();
        let Some(digit) = digit(byte) else {
            // A fraction or an exponent is nothing that may stand behind a value.
            return Some((number, at));
        };
        // 18 digits cannot overflow, and none follows a leading zero.
        if at == end || number == 0 {
            return None;
        }
        number = number * 10 + u64::from(digit);
        at += 1;
    }
}

/// The place behind a value by its first byte and what follows.
fn behind_value(first: u8, text: &str, at: usize, depth: u32) -> Option<usize> {
    let mut json = Plain { text, at };
    match first {
        b'"' => json.content().map(drop)?,
        b'n' => json.literal(b"ull")?,
        b't' => json.literal(b"rue")?,
        b'f' => json.literal(b"alse")?,
        b'[' | b'{' => return behind_members(first, text, at, depth.checked_sub(1)?),
        _ => return digits(first, text.as_bytes(), at).map(|(_, at)| at),
    }
    Some(json.at)
}

/// The place behind a list or an object, by its opening bracket and what follows.
fn behind_members(open: u8, text: &str, at: usize, depth: u32) -> Option<usize> {
    let close = if open == b'[' { b']' } else { b'}' };
    let mut json = Plain { text, at };
    let mut first = json.next()?;
    if first == close {
        return Some(json.at);
    }
    loop {
        if open == b'{' {
            (first == b'"').then_some(())?;
            json.content()?;
            json.take(b':')?;
            first = json.next()?;
        }
        json.at = behind_value(first, text, json.at, depth)?;
        match json.next()? {
            b',' => first = json.next()?,
            byte => return (byte == close).then_some(json.at),
        }
    }
}

/// A string with escapes as serde has it, and the place behind it.
#[cold]
fn escaped(text: &str, at: usize) -> Option<(String, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter();
    let string = values.next()?.ok()?;
    Some((string, at + values.byte_offset()))
}

/// A field whose value does not matter, but which serde refuses where it comes twice.
#[derive(Default)]
pub(super) struct Seen(bool);

impl Seen {
    /// Notes that it was read.
    #[inline]
    pub(super) fn set(&mut self, read: Option<()>) -> Option<()> {
        (!std::mem::replace(&mut self.0, true)).then_some(())?;
        read
    }

    /// Whether it came.
    pub(super) fn is_set(&self) -> bool {
        self.0
    }
}

#[cfg(test)]
pub(super) mod cases;

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    /// Whether a text is one plain value.
    fn is_plain(text: &str) -> bool {
        Plain::read(text, Plain::skip).is_some()
    }

    /// The value of the one field of an object.
    fn field<'a, T>(text: &'a str, read: impl Fn(&mut Plain<'a>) -> Option<T>) -> Option<T> {
        let mut value = None;
        Plain::read(text, |json| {
            json.object(|key, json| {
                assert_eq!(key, b"a");
                value = Some(read(json)?);
                Some(())
            })
        })?;
        value
    }

    #[test]
    fn plain_values_are_read() {
        let long = "ü".repeat(40);
        assert_eq!(field(&format!(r#" {{ "a" :	"{long}" }} "#), Plain::str), Some(&*long));
        assert_eq!(field(r#"{"a":"b\n\u00e4"}"#, Plain::text).as_deref(), Some("b\nä"));
        assert_eq!(field(r#"{"a": "b\\" }"#, Plain::text).as_deref(), Some("b\\"));
        assert!(matches!(field(r#"{"a":"b"}"#, Plain::text), Some(Cow::Borrowed("b"))));
        assert_eq!(field(r#"{"a":null}"#, Plain::text).as_deref(), Some(""));
        assert_eq!(field(r#"{"a":0}"#, Plain::number), Some(0));
        assert_eq!(field(r#"{"a":123456789012345678 }"#, Plain::number), Some(123_456_789_012_345_678));
        assert_eq!(field(r#"{"a":true}"#, Plain::bool), Some(true));
        assert_eq!(field(r#"{"a":null}"#, Plain::null), Some(()));
        assert_eq!(field(r#"{"a":[ ]}"#, Plain::none), Some(()));
        assert_eq!(field(r#"{"a":[ 7 ]}"#, |json| json.only(Plain::number)), Some(7));
        assert!(is_plain(r#"{"a":[{"b":[1,"c",{}],"b":null},true, false ,[]]}"#));
    }

    #[test]
    fn what_is_not_plain_is_left_to_serde() {
        let long = "x".repeat(40);
        let quoted = |content: &str| format!("{{\"a\":\"{content}\"}}");
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let texts = [
            quoted("a\\n"),
            quoted("a\u{1}"),
            quoted(&format!("{long}\\u0061")),
            quoted(&format!("{long}\tb")),
            quoted("cut").trim_end_matches("\"}").to_owned(),
            deep(MAX_DEPTH as usize + 1),
        ];
        let others = [
            "",
            "{",
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            r#"{,"a":1}"#,
            r#"{"a":01}"#,
            r#"{"a":1.0}"#,
            r#"{"a":1e3}"#,
            r#"{"a":-1}"#,
            r#"{"a":1234567890123456789}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[,]}"#,
            r#"{"a":[1}"#,
            r#"{"a":[1 2]}"#,
            r#"{"a":{"b"}}"#,
            r#"{"a":{"b":1]}"#,
            r#"{"a":nul}"#,
            r#"{"a":1}x"#,
            "{\"a\":1}\u{c}",
            r#"{"a":1 "b":2}"#,
            r#"{a:1}"#,
            r#"{"a":truefalse}"#,
        ];
        for text in texts.iter().map(String::as_str).chain(others) {
            assert!(!is_plain(text), "{text}");
        }
        assert!(is_plain(&deep(MAX_DEPTH as usize)));
        for string in ["xull", "\"b", "\"b\\x\"", "1", "\"b\"c"] {
            assert_eq!(field(&format!("{{\"a\":{string}}}"), Plain::text), None, "{string}");
        }
        assert_eq!(field(r#"{"a":[7,8]}"#, |json| json.only(Plain::number)), None);
    }

    #[test]
    fn what_is_plain_is_json() {
        cases::check_all(&cases::value(), |text| {
            let plain = is_plain(text);
            proptest::prop_assert!(!plain || serde_json::from_str::<IgnoredAny>(text).is_ok());
            Ok(plain)
        });
    }
}
