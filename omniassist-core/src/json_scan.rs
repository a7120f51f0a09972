//! The strings of JSON text: where they end, and the escapes in them.
//!
//! These functions serve code that walks over JSON without a parser.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Returns the number of bytes at the front that may stand in a JSON string as they are: up to the first quote,
/// backslash or control character.
#[inline]
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    // Keys and tokens end within the first two words.
    if let Some((head, rest)) = bytes.split_first_chunk::<16>()
        && let ([first, second], _) = head.as_chunks()
    {
        if let Some(length) = length_in_word(*first) {
            return length;
        }
        if let Some(length) = length_in_word(*second) {
            return 8 + length;
        }
        return 16 + long_plain_length(rest);
    }
    short_plain_length(bytes)
}

/// Like [`plain_length`], for text that is probably long.
#[inline(never)]
fn long_plain_length(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<16>();
    // No way out of a block, so that the compiler takes it as one vector.
    let is_plain = |block: &&[u8; 16]| !block.iter().fold(false, |found, byte| found | is_special(*byte));
    let mut before = blocks.iter().take_while(is_plain).count() * 16;
    let mut rest = bytes.get(before..).unwrap_or_default();
    while let Some((word, behind)) = rest.split_first_chunk() {
        if let Some(length) = length_in_word(*word) {
            return before + length;
        }
        before += 8;
        rest = behind;
    }
    before + rest.iter().take_while(|byte| !is_special(**byte)).count()
}

/// Like [`plain_length`], for less than two words.
#[inline]
fn short_plain_length(bytes: &[u8]) -> usize {
    let Some((word, rest)) = bytes.split_first_chunk() else {
        return bytes.iter().take_while(|byte| !is_special(**byte)).count();
    };
    let in_rest = || rest.iter().take_while(|byte| !is_special(**byte)).count();
    length_in_word(*word).unwrap_or_else(|| 8 + in_rest())
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Returns the length within a word; `None` if all of it may stand.
#[inline]
fn length_in_word(bytes: [u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(bytes);
    // Of all ASCII, `byte ^ 2` is below 0x21 for the control characters, which it shuffles, and for the quote.
    let control_or_quote = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    // The lowest high bit that is set is exact; a borrow can only set bits above it.
    let special = (control_or_quote | backslash) & !word & HIGH_BITS;
    (special != 0).then_some(special.trailing_zeros() as usize / 8)
}

/// Returns the length of a string's content, or `None` if the string does not end. The opening quote must already be
/// consumed. Escapes are not checked.
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

/// The escape of a byte that cannot stand in a JSON string, in the form of `JSON.stringify` and serde_json.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Escape {
    bytes: [u8; Self::LONGEST],
    length: usize,
}

impl Escape {
    /// Bytes of the longest escape: `\u001f`.
    const LONGEST: usize = 6;

    /// Returns the escape of a byte.
    #[inline]
    pub(crate) fn of(byte: u8) -> Self {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => {
                let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
                let bytes = [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)];
                return Self { bytes, length: Self::LONGEST };
            }
        };
        Self { bytes: [b'\\', short, 0, 0, 0, 0], length: 2 }
    }

    /// Returns the escape.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Decodes the content of a JSON string. Returns `None` for half a surrogate pair, which no text can hold.
///
/// `serde_json` decodes through a buffer of its own and copies the result, which costs a request of 1,000 messages 3 %.
pub(crate) fn unescape(content: &str) -> Option<String> {
    let mut text = Vec::with_capacity(content.len());
    let mut rest = content;
    loop {
        rest = copy_plain(rest, &mut text)?;
        let Some(escaped) = rest.as_bytes().get(1) else { break };
        let plain = match escaped {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 0x08,
            b'f' => 0x0c,
            b'u' => {
                let (character, length) = code_point(rest)?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(length..)?;
                continue;
            }
            byte => *byte,
        };
        text.push(plain);
        rest = rest.get(2..)?;
    }
    String::from_utf8(text).ok()
}

/// Copies the text before the first backslash, and returns the rest. Whole words are copied and cut off again, since
/// escapes stand close together in many texts.
fn copy_plain<'a>(content: &'a str, out: &mut Vec<u8>) -> Option<&'a str> {
    let mut rest = content.as_bytes();
    while let Some((piece, behind)) = rest.split_first_chunk::<8>() {
        out.extend_from_slice(piece);
        let word = u64::from_le_bytes(*piece) ^ (ONES * u64::from(b'\\'));
        let found = word.wrapping_sub(ONES) & !word & HIGH_BITS;
        if found != 0 {
            let length = found.trailing_zeros() as usize / 8;
            out.truncate(out.len() - 8 + length);
            return content.get(content.len() - rest.len() + length..);
        }
        rest = behind;
    }
    let length = rest.iter().take_while(|byte| **byte != b'\\').count();
    out.extend_from_slice(rest.get(..length)?);
    content.get(content.len() - rest.len() + length..)
}

/// Returns the character that the code units at the front spell, and the length of its spelling.
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
            for around in [0x20, 0x21, 0x23, 0x5b, 0x7f, 0x80, 0xff] {
                let lengths = [7, 8, 15, 16, 17, 31, 33, 48, 69];
                for (length, at) in
                    lengths.iter().flat_map(|length| (0..*length).map(move |at| (*length, at)))
                {
                    let mut bytes = [around; 69];
                    bytes[at] = byte;
                    assert_eq!(
                        plain_length(&bytes[..length]),
                        if is_special { at } else { length },
                        "{byte} {around} {at} of {length}"
                    );
                }
            }
        }
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut word = [b'a'; 8];
                word[at] = byte;
                assert_eq!(length_in_word(word), (plain_length(&word) < 8).then_some(at), "{byte} {at}");
            }
        }
        // What a borrow from the first would change.
        assert_eq!(plain_length(b"a\x00\x20\x20\x20\x20\x20\x20"), 1);
        assert_eq!(plain_length(b"a\"\"\x23\x22aaa"), 1);
        let long = [&[b'x'; 40][..], b"a\x00\x20\x20\x20\x20\x20\x20"].concat();
        assert_eq!(plain_length(&long), 41);
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
