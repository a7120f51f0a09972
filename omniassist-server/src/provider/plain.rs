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
    let mut reader = Reader { text, at: 0 };
    reader.take(b'{')?;
    loop {
        let key = reader.string()?;
        reader.take(b':')?;
        each(key, reader.value()?)?;
        match reader.peek()? {
            b',' => reader.at += 1,
            b'}' => break,
            _ => return None,
        }
    }
    reader.at += 1;
    text.get(reader.at..)?.trim_ascii().is_empty().then_some(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                // Nearly always the first time round, by one comparison.
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                _ => return None,
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = self.text.get(self.at..)?;
        let (content, behind) = rest.split_at_checked(plain_length(rest.as_bytes()))?;
        (behind.as_bytes().first() == Some(&b'"')).then_some(())?;
        self.at += content.len() + 1;
        Some(content)
    }

    fn value(&mut self) -> Option<Plain<'a>> {
        match self.peek()? {
            b'"' => self.string().map(Plain::Str),
            b'0'..=b'9' => self.number().map(Plain::Num),
            b'[' => {
                self.at += 1;
                self.take(b']')?;
                Some(Plain::Other)
            }
            _ => {
                let rest = self.text.get(self.at..)?;
                let literal =
                    ["null", "true", "false"].into_iter().find(|literal| rest.starts_with(literal))?;
                self.at += literal.len();
                Some(Plain::Other)
            }
        }
    }

    fn number(&mut self) -> Option<u64> {
        let digits = self.text.as_bytes().get(self.at..)?.iter().take_while(|byte| byte.is_ascii_digit());
        let (mut number, mut count) = (0_u64, 0);
        for digit in digits {
            // 18 digits cannot overflow.
            (count < 18).then_some(())?;
            number = number * 10 + u64::from(digit - b'0');
            count += 1;
        }
        let has_leading_zero = count > 1 && self.text.as_bytes().get(self.at) == Some(&b'0');
        self.at += count;
        let goes_on = matches!(self.text.as_bytes().get(self.at), Some(b'.' | b'e' | b'E'));
        (!has_leading_zero && !goes_on).then_some(number)
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
