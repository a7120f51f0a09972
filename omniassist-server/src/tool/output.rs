//! A tool's output as JSON of bounded size.

use std::io::{self, Write};

use omniassist_core::JsonText;
use serde::Serialize;

/// Serialises a value into at most `max_bytes`. A larger one becomes a JSON string: as much of it as fits, and a note
/// that the rest is missing. Serialising stops where the limit is, so a huge value does not take huge memory.
pub(crate) fn to_json<T: Serialize + ?Sized>(
    value: &T,
    max_bytes: usize,
) -> Result<JsonText, serde_json::Error> {
    let mut writer = CappedWriter { bytes: Vec::new(), max_bytes, full: false };
    match serde_json::to_writer(&mut writer, value) {
        Ok(()) => JsonText::parse(String::from_utf8_lossy(&writer.bytes).into_owned()),
        Err(_) if writer.full => Ok(cut(&writer.bytes, max_bytes)),
        Err(error) => Err(error),
    }
}

/// The start of a text and the note that the rest is missing, in `max_bytes`.
pub(crate) fn cap_text(text: &str, max_bytes: usize) -> String {
    let note = note(max_bytes);
    let end = floor_char_boundary(text, max_bytes.saturating_sub(note.len()));
    let mut cut = text.get(..end).unwrap_or_default().to_owned();
    cut.push_str(&note);
    cut
}

fn note(max_bytes: usize) -> String {
    format!("… [cut off: the output is longer than {max_bytes} bytes]")
}

/// Makes a JSON string of the start of a JSON text.
fn cut(json: &[u8], max_bytes: usize) -> JsonText {
    let text = json.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    let content = match text.strip_prefix('"') {
        Some(content) => unescape(content),
        None => text.to_owned(),
    };
    let note = note(max_bytes);
    let room = max_bytes.saturating_sub(note.len() + 2);
    let mut used = 0;
    let end = content
        .char_indices()
        .find(|&(_, char)| {
            used += escaped_len(char);
            used > room
        })
        .map_or(content.len(), |(index, _)| index);
    let mut shown = content.get(..end).unwrap_or_default().to_owned();
    shown.push_str(&note);
    JsonText::from_str_value(&shown)
}

/// Bytes of a character inside a JSON string, as `serde_json` writes it.
fn escaped_len(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => char.len_utf8(),
    }
}

/// The text of a JSON string that was cut somewhere, perhaps within an escape.
fn unescape(content: &str) -> String {
    // The longest escape is a surrogate pair of 12 bytes.
    let mut end = content.len();
    for _ in 0..=12 {
        let candidate = content.get(..end).unwrap_or_default();
        if let Ok(text) = serde_json::from_str(&format!("\"{candidate}\"")) {
            return text;
        }
        end = floor_char_boundary(content, end.saturating_sub(1));
    }
    content.to_owned()
}

/// The largest index up to `index` at which the text can be split.
pub(super) fn floor_char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&index| text.is_char_boundary(index)).unwrap_or_default()
}

/// Takes bytes up to a limit, and fails with the first byte beyond it.
struct CappedWriter {
    bytes: Vec<u8>,
    max_bytes: usize,
    full: bool,
}

impl Write for CappedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.max_bytes - self.bytes.len();
        let fits = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.bytes.extend_from_slice(fits);
        if fits.len() < bytes.len() {
            self.full = true;
            return Err(io::Error::other("the output is too long"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
