//! Finding the end of a JSON string.
//!
//! For whatever walks over JSON by itself, where a parser would do more than is needed.
//!
//! ```
//! use omniassist_core::json_scan::plain_length;
//!
//! assert_eq!(plain_length(b"no more\", \"next"), 7);
//! assert_eq!(plain_length(b"a line\\n"), 6);
//! assert_eq!(plain_length("for itself, up to the end: ü".as_bytes()), 29);
//! ```

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// How many bytes at the front may stand in a JSON string as they are: up to the first quote, backslash or control
/// character.
#[must_use]
pub fn plain_length(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return bytes.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let is_plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..0x20);
    bytes.len() - rest.len() + rest.iter().take_while(is_plain).count()
}

/// Sets the high bit of every byte that is a quote, a backslash or a control character; above the first, perhaps also
/// of others, since a borrow can reach them.
fn special_bytes(word: u64) -> u64 {
    // Of all bytes, `byte ^ 2` is below 0x21 for the control characters, which it shuffles, and for the quote.
    let control_or_quote = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (control_or_quote | backslash) & !word & HIGH_BITS
}

/// How long the content of a string is whose opening quote was just passed: up to the quote that ends it. `None` if it
/// does not end. Whether it is a JSON string is not looked at.
pub(crate) fn content_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        at += match rest.first_chunk() {
            Some(word) => match quote_or_backslash(u64::from_le_bytes(*word)) {
                0 => {
                    at += 8;
                    continue;
                }
                special => special.trailing_zeros() as usize / 8,
            },
            None => rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?,
        };
        match bytes.get(at)? {
            b'"' => return Some(at),
            // A backslash, and what it makes of the character behind it.
            _ => at += 2,
        }
    }
}

/// Sets the high bit of every byte that is a quote or a backslash; above the first, perhaps also of others.
fn quote_or_backslash(word: u64) -> u64 {
    let equal = |byte: u8| {
        let zeros = word ^ (ONES * u64::from(byte));
        zeros.wrapping_sub(ONES) & !zeros
    };
    (equal(b'"') | equal(b'\\')) & HIGH_BITS
}

/// The text that the content of a JSON string stands for. `None` where it holds half a surrogate pair, which no text can.
pub(crate) fn unescape(content: &str) -> Option<String> {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (clean, escape) = rest.split_at_checked(at)?;
        text.push_str(clean);
        let plain = match escape.as_bytes().get(1)? {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (character, length) = code_point(escape)?;
                text.push(character);
                rest = escape.get(length..)?;
                continue;
            }
            byte => char::from(*byte),
        };
        text.push(plain);
        rest = escape.get(2..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// The character that is spelled by its code units at the front, and the length of that.
fn code_point(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 6));
    }
    let pair = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((pair, 12))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_counts_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
            for around in [0x20, 0x21, 0x5b, 0x7f, 0x80, 0xff] {
                for at in 0..20 {
                    let mut bytes = [around; 20];
                    bytes[at] = byte;
                    assert_eq!(
                        plain_length(&bytes),
                        if is_special { at } else { 20 },
                        "{byte} {around} {at}"
                    );
                }
            }
        }
        // What a borrow from the first would change.
        assert_eq!(plain_length(b"a\x00\x20\x20\x20\x20\x20\x20"), 1);
        assert_eq!(plain_length(b"a\"\"\x23\x22aaa"), 1);
    }

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        for (text, length) in [
            ("\"", Some(0)),
            ("abc\" rest of it", Some(3)),
            ("a\\\"b\", \"c\"", Some(4)),
            ("0123456\\\\\"", Some(9)),
            ("01234567\\\"89abcdef\"", Some(18)),
            ("", None),
            ("0123456789", None),
            ("012345678\\", None),
            ("0123456\\\"", None),
        ] {
            assert_eq!(content_length(text.as_bytes()), length, "{text}");
        }
    }

    proptest! {
        #[test]
        fn strings_end_and_read_as_serde_has_it(text: String, behind: String, ascii in "[\"\\\\\u{0}-\u{1f}a\u{e000}\u{1f600}]{0,40}") {
            for text in [text, ascii] {
                let json = serde_json::to_string(&text).unwrap();
                let rest = json.strip_prefix('"').unwrap();
                let content = rest.strip_suffix('"').unwrap();
                let followed = format!("{rest}{behind}");
                prop_assert_eq!(content_length(followed.as_bytes()), Some(content.len()));
                prop_assert_eq!(unescape(content), Some(text));
            }
        }

        /// Every escape there is, and halves of surrogate pairs.
        #[test]
        fn escapes_read_as_serde_has_them(content in r#"(\\["\\/bfnrt]|\\u[dD][89abcdefABCDEF][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|[a-c]){0,12}"#) {
            let read = serde_json::from_str::<String>(&format!("\"{content}\"")).ok();
            prop_assert_eq!(unescape(&content), read);
        }
    }
}
