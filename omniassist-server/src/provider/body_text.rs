//! Text in request bodies. A long conversation is mostly text, so it is searched a word at a time for what JSON escapes.

use std::io::{self, Write};

use omniassist_core::json_scan::{Escape, first_special, plain_length};
use serde::Serializer;
use serde_json::ser::Formatter;

/// Bytes that are put together before they are written. Any length works; this one keeps writes few and the stack small.
const PIECE: usize = 512;

/// Bytes that are copied in one step.
const STEP: usize = 16;

/// JSON without white space, in which bytes are [`text`].
pub(super) struct TextFormatter;

impl Formatter for TextFormatter {
    fn write_byte_array<W: ?Sized + Write>(&mut self, writer: &mut W, text: &[u8]) -> io::Result<()> {
        writer.write_all(b"\"")?;
        content(writer, text)?;
        writer.write_all(b"\"")
    }
}

/// Writes a field as a string, for `serialize_with`. The same JSON as serde_json's, made faster. Only a serializer with
/// the [`TextFormatter`] reads bytes as text.
pub(super) fn text<T: AsRef<str>, S: Serializer>(text: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(text.as_ref().as_bytes())
}

/// The same of a field that may be null.
#[expect(clippy::ref_option, reason = "serde hands a field over like this")]
pub(super) fn optional_text<T: AsRef<str>, S: Serializer>(
    text: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(given) => self::text(given, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes what stands between the quotes of a JSON string.
fn content<W: ?Sized + Write>(writer: &mut W, text: &[u8]) -> io::Result<()> {
    let mut piece = Piece { bytes: [0; PIECE], used: 0 };
    let mut rest = text;
    loop {
        while piece.used + STEP + Escape::LONGEST <= PIECE
            && let Some((step, behind)) = rest.split_first_chunk()
        {
            // The step is copied as a whole, and what is behind its plain part is overwritten.
            piece.put_step(step);
            match special_in(step) {
                None => {
                    piece.used += STEP;
                    rest = behind;
                }
                Some(length) => {
                    piece.used += length;
                    rest = rest.get(length..).unwrap_or_default();
                    rest = piece.escape_first(rest);
                }
            }
        }
        if rest.len() < STEP {
            break;
        }
        piece.write_to(writer)?;
    }
    piece.write_to(writer)?;
    while !rest.is_empty() {
        let (plain, special) = rest.split_at(plain_length(rest));
        piece.put(plain);
        piece.used += plain.len();
        rest = piece.escape_first(special);
    }
    piece.write_to(writer)
}

/// Where the first byte is that is to be escaped.
fn special_in(step: &[u8; STEP]) -> Option<usize> {
    let (front, back) = (step.first_chunk()?, step.last_chunk()?);
    first_special(front).or_else(|| first_special(back).map(|at| at + front.len()))
}

struct Piece {
    bytes: [u8; PIECE],
    used: usize,
}

impl Piece {
    /// Puts bytes behind what is used, without using them yet.
    fn put(&mut self, bytes: &[u8]) {
        if let Some(free) = self.bytes.get_mut(self.used..self.used + bytes.len()) {
            free.copy_from_slice(bytes);
        }
    }

    /// The same of as many bytes as are copied in one step.
    fn put_step(&mut self, step: &[u8; STEP]) {
        if let Some(free) = self.bytes.get_mut(self.used..).and_then(<[u8]>::first_chunk_mut) {
            *free = *step;
        }
    }

    fn write_to<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let used = std::mem::take(&mut self.used);
        writer.write_all(self.bytes.get(..used).unwrap_or_default())
    }

    /// Escapes the first byte, and gives the others.
    fn escape_first<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some((&byte, behind)) = bytes.split_first() else { return bytes };
        let escape = Escape::of(byte);
        self.put(escape.padded());
        self.used += escape.as_bytes().len();
        behind
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Field<'a> {
        #[serde(serialize_with = "text")]
        text: &'a str,
    }

    #[derive(Serialize)]
    struct Plain<'a> {
        text: &'a str,
    }

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        Field { text }
            .serialize(&mut serde_json::Serializer::with_formatter(&mut out, TextFormatter))
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_is_escaped_wherever_it_stands() {
        for code in (0..=0x100).chain([0x2028, 0xd7ff, 0xe000, 0x1f600]) {
            let character = char::from_u32(code).unwrap();
            // Before, in and behind each word of a piece, and across the end of one.
            for before in (0..20).chain(PIECE - 20..PIECE + 20) {
                let text = format!("{}{character}{character}tail", "x".repeat(before));
                assert_eq!(written(&text), serde_json::to_string(&Plain { text: &text }).unwrap());
            }
        }
        let escapes = "\u{1}".repeat(3 * PIECE);
        assert_eq!(written(&escapes), serde_json::to_string(&Plain { text: &escapes }).unwrap());
    }

    proptest! {
        #[test]
        fn text_is_written_as_serde_json_writes_it(pieces in prop::collection::vec("[\"\\\\\u{0}-\u{1f}a-zü\u{1f600}]{0,40}", 0..40)) {
            let text = pieces.concat();
            prop_assert_eq!(written(&text), serde_json::to_string(&Plain { text: &text }).unwrap());
        }
    }
}
