//! A tool's output as JSON of bounded size.

use std::io::{self, Write};

use omniassist_core::JsonText;
use omniassist_core::characters::prefix;
use serde::Serialize;
use serde::ser::Error as _;

/// Levels of JSON around an output in the body of a request: the body, its list of messages, a message, its list of
/// parts, a part, and two for a format that wraps the output once more.
const LEVELS_AROUND: usize = 7;

/// The limits of the values that a tool sends to the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputLimits {
    pub(crate) max_bytes: usize,
    /// Levels of arrays and objects.
    pub(crate) max_depth: usize,
}

impl OutputLimits {
    /// Returns bounds that let the client post the output back.
    pub(crate) fn new(max_bytes: usize, max_json_depth: usize) -> Self {
        Self { max_bytes, max_depth: max_json_depth.saturating_sub(LEVELS_AROUND) }
    }
}

/// Serialises a value. One that is larger than allowed becomes a JSON string: its start, and a note that the rest is
/// missing. Serialising stops at the limit, so the memory is bounded for values of any size.
///
/// # Errors
///
/// Returns an error if the value has no JSON form, or more levels than allowed.
pub(crate) fn to_json<T: Serialize + ?Sized>(
    value: &T,
    limits: OutputLimits,
) -> Result<JsonText, serde_json::Error> {
    let max_bytes = limits.max_bytes;
    let mut writer = CappedWriter { bytes: Vec::new(), max_bytes, full: false };
    match serde_json::to_writer(&mut writer, value) {
        Ok(()) if depth(&writer.bytes) > limits.max_depth => {
            Err(serde_json::Error::custom(format!("it has more than {} levels", limits.max_depth)))
        }
        Ok(()) => JsonText::parse(String::from_utf8_lossy(&writer.bytes).into_owned()),
        Err(_) if writer.full => cut(&writer.bytes, max_bytes),
        Err(error) => Err(error),
    }
}

/// Returns the levels of arrays and objects in a JSON text.
pub(crate) fn depth(json: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Returns the start of a text and a note that the rest is missing, in `max_bytes`.
pub(crate) fn cap_text(text: &str, max_bytes: usize) -> String {
    let note = note(max_bytes);
    let mut cut = prefix(text, max_bytes.saturating_sub(note.len())).to_owned();
    cut.push_str(&note);
    cut
}

fn note(max_bytes: usize) -> String {
    format!("… [cut off: the output is longer than {max_bytes} bytes]")
}

/// Makes a JSON string of the start of a JSON text. The start of a string stays a string of the same text.
fn cut(json: &[u8], max_bytes: usize) -> Result<JsonText, serde_json::Error> {
    let text = json.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    let quoted;
    let content = match text.strip_prefix('"') {
        Some(content) => content,
        None => {
            quoted = serde_json::to_string(text)?;
            quoted.get(1..quoted.len() - 1).unwrap_or_default()
        }
    };
    let note = note(max_bytes);
    let kept = cut_escaped(content, max_bytes.saturating_sub(note.len() + 2));
    JsonText::parse(format!("\"{kept}{note}\""))
}

/// Returns as many whole characters and escapes of a JSON string's content as fit.
fn cut_escaped(content: &str, max_bytes: usize) -> &str {
    let mut kept = 0;
    while let Some(rest) = content.get(kept..)
        && let Some(char) = rest.chars().next()
    {
        let is_pair = ["\\ud8", "\\ud9", "\\uda", "\\udb"]
            .iter()
            .any(|high| rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(high)));
        let length = match char {
            _ if is_pair => 12,
            '\\' if rest.starts_with("\\u") => 6,
            '\\' => 2,
            char => char.len_utf8(),
        };
        if kept + length > max_bytes.min(content.len()) {
            break;
        }
        kept += length;
    }
    content.get(..kept).unwrap_or_default()
}

/// Cuts a text off that is longer than `max_bytes`.
pub(super) fn cut_off(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        text.truncate(prefix(&text, max_bytes - '…'.len_utf8()).len());
        text.push('…');
    }
    text
}

/// A writer that takes bytes up to a limit, and fails with the first byte beyond it.
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
