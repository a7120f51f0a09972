//! Reading the object of a delta, where it is as plain as deltas are.
//!
//! Nearly all that a provider sends are small flat objects. They are read here in one pass over their bytes; everything
//! else is left to serde, which is the judge of what is JSON: what is read here, serde would read alike.

use omniassist_core::json_scan::plain_length;

/// A value that is plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain<'a> {
    /// A string without escapes.
    Str(&'a str),
    /// A whole number of at most 18 digits.
    Num(u64),
    /// A literal, or an empty list.
    Other,
}

/// Gives every key and value of an object that holds nothing but plain values, as they are spelled.
///
/// `None`, possibly after some were given, for anything else, and when `each` gives `None`.
pub(super) fn fields<'a>(
    text: &'a str,
    mut each: impl FnMut(&'a str, Plain<'a>) -> Option<()>,
) -> Option<()> {
    let mut rest = Rest(text);
    rest.take(b'{')?;
    loop {
        rest.take(b'"')?;
        let key = rest.content()?;
        rest.take(b':')?;
        each(key, rest.value()?)?;
        match rest.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    rest.0.trim_ascii().is_empty().then_some(())
}

/// What is still to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// Takes the next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.0.as_bytes().first()?;
            self.0 = self.0.get(1..)?;
            match byte {
                // Nearly always the first time round, by one comparison.
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\n' | b'\r' | b'\t' => {}
                _ => return None,
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The content of a string whose opening quote was taken.
    fn content(&mut self) -> Option<&'a str> {
        let (content, behind) = self.0.split_at_checked(plain_length(self.0.as_bytes()))?;
        (*behind.as_bytes().first()? == b'"').then_some(())?;
        self.0 = behind.get(1..)?;
        Some(content)
    }

    fn value(&mut self) -> Option<Plain<'a>> {
        match self.next()? {
            b'"' => self.content().map(Plain::Str),
            digit @ b'0'..=b'9' => self.number(digit).map(Plain::Num),
            b'[' => self.take(b']').map(|()| Plain::Other),
            b'n' => self.literal("ull"),
            b't' => self.literal("rue"),
            b'f' => self.literal("alse"),
            _ => None,
        }
    }

    fn literal(&mut self, behind: &str) -> Option<Plain<'a>> {
        self.0 = self.0.strip_prefix(behind)?;
        Some(Plain::Other)
    }

    /// A number whose first digit was taken.
    fn number(&mut self, first: u8) -> Option<u64> {
        let mut number = u64::from(first - b'0');
        let mut count = 1;
        for byte in self.0.bytes().take_while(u8::is_ascii_digit) {
            // 18 digits cannot overflow, and none follows a leading zero.
            (count < 18 && number != 0).then_some(())?;
            number = number * 10 + u64::from(byte - b'0');
            count += 1;
        }
        self.0 = self.0.get(count - 1..)?;
        let goes_on = matches!(self.0.as_bytes().first(), Some(b'.' | b'e' | b'E'));
        (!goes_on).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(&str, Plain<'_>)>> {
        let mut read = Vec::new();
        fields(text, |key, value| {
            read.push((key, value));
            Some(())
        })
        .map(|()| read)
    }

    #[test]
    fn flat_objects_are_read() {
        let long = "ü".repeat(40);
        let text = format!(r#" {{ "a" : "b" , "n":12, "z":0,"l": [ ],"t":true,"x":null,"s":"{long}"}} "#);
        use Plain::{Num, Other, Str};
        let expected = [
            ("a", Str("b")),
            ("n", Num(12)),
            ("z", Num(0)),
            ("l", Other),
            ("t", Other),
            ("x", Other),
            ("s", Str(&long)),
        ];
        assert_eq!(read(&text).unwrap(), expected);
    }

    #[test]
    fn what_is_not_plain_is_left_to_serde() {
        let long = "x".repeat(40);
        let quoted = |content: &str| format!("{{\"a\":\"{content}\"}}");
        let texts = [
            quoted("a\\n"),
            quoted("a\u{1}"),
            quoted(&format!("{long}\\u0061")),
            quoted(&format!("{long}\tb")),
            quoted("cut").trim_end_matches("\"}").to_owned(),
        ];
        let others = [
            "",
            "{",
            "{}",
            "[]",
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":1.0}"#,
            r#"{"a":1e3}"#,
            r#"{"a":-1}"#,
            r#"{"a":1234567890123456789}"#,
            r#"{"a":{}}"#,
            r#"{"a":[1]}"#,
            r#"{"a":nul}"#,
            r#"{"a":1}x"#,
            r#"{"a":1 "b":2}"#,
            r#"{a:1}"#,
            r#"{"a":truefalse}"#,
        ];
        for text in texts.iter().map(String::as_str).chain(others) {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn each_may_refuse() {
        assert_eq!(fields(r#"{"a":1}"#, |_, _| None), None);
    }
}
