//! Writers for untrusted values, which can neither break their line nor open a tag.

use std::fmt::Write as _;

use serde_json::Value;

use super::{json, sort};
use crate::characters::{is_hidden, prefix};
use crate::secret::REDACTED;

/// The depth below which objects and arrays are shown as `…`.
const MAX_SHOWN_DEPTH: usize = 16;

/// The size limit of one value, in bytes. The number of omitted bytes follows a truncated value.
pub(super) const MAX_VALUE_BYTES: usize = 512;

/// The size limit of one bullet, in bytes. The number of omitted bytes follows a truncated bullet.
pub(super) const MAX_ENTRY_BYTES: usize = 2048;

/// The number of fields of one form, or keys of one object, that are shown. The number of omitted ones follows.
pub(super) const MAX_FIELDS: usize = 64;

/// Appends a value, truncated at the cap: a quoted text, a number, or compact JSON.
pub(super) fn value(out: &mut String, value: &Value) {
    match value {
        Value::String(text) if text == REDACTED => out.push_str(REDACTED),
        Value::String(text) => quoted(out, text),
        Value::Array(_) | Value::Object(_) => {
            let start = out.len();
            nested(out, value, start, 0);
            if out.len() - start > MAX_VALUE_BYTES {
                cut(out, start, MAX_VALUE_BYTES);
                out.push_str("… (more)");
            }
        }
        Value::Number(number) => json::number(out, number),
        Value::Null | Value::Bool(_) => push_display(out, value),
    }
}

/// Appends compact JSON with sorted keys, and stops soon after the cap is exceeded.
fn nested(out: &mut String, value: &Value, start: usize, depth: usize) {
    let (open, members, close): (_, Vec<(Option<&str>, &Value)>, _) = match value {
        Value::String(text) => return quoted(out, text),
        Value::Array(_) | Value::Object(_) if depth == MAX_SHOWN_DEPTH => return out.push('…'),
        // No array or object shows more members than bytes.
        Value::Array(items) => {
            ('[', items.iter().take(MAX_VALUE_BYTES).map(|item| (None, item)).collect(), ']')
        }
        Value::Object(map) => {
            let members = sort::entries(map).into_iter().map(|(key, item)| (Some(key.as_str()), item));
            ('{', members.collect(), '}')
        }
        Value::Number(number) => return json::number(out, number),
        Value::Null | Value::Bool(_) => return push_display(out, value),
    };
    out.push(open);
    for (index, (key, item)) in members.into_iter().enumerate() {
        if out.len() - start > MAX_VALUE_BYTES {
            return;
        }
        if index > 0 {
            out.push(',');
        }
        if let Some(key) = key {
            quoted(out, key);
            out.push(':');
        }
        nested(out, item, start, depth + 1);
    }
    out.push(close);
}

/// Appends a name, in quotes unless it is a plain identifier.
pub(super) fn name(out: &mut String, text: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.$[]".contains(&byte);
    bare_or_quoted(out, text, plain);
}

/// Appends an address, in quotes unless all its characters are valid in a URL.
pub(super) fn address(out: &mut String, text: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&*+;=%".contains(&byte);
    bare_or_quoted(out, text, plain);
}

fn bare_or_quoted(out: &mut String, text: &str, plain: impl Fn(u8) -> bool) {
    if !text.is_empty() && text.len() <= MAX_VALUE_BYTES && text.bytes().all(plain) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Appends a text in quotes. The number of omitted bytes follows the quotes, where a value cannot forge it.
pub(super) fn quoted(out: &mut String, text: &str) {
    let shown = prefix(text, MAX_VALUE_BYTES);
    out.push('"');
    escape(out, shown, true);
    out.push('"');
    if shown.len() < text.len() {
        cut_off(out, text.len() - shown.len());
    }
}

/// Appends a line of a template.
pub(crate) fn line(out: &mut String, text: &str) {
    escape(out, text, false);
}

/// Truncates the text since `start` to `max` bytes, and appends the number of omitted bytes.
pub(super) fn cap_since(out: &mut String, start: usize, max: usize) {
    let length = out.len() - start;
    if length > max {
        cut(out, start, max);
        let cut = length - (out.len() - start);
        cut_off(out, cut);
    }
}

fn cut(out: &mut String, start: usize, max: usize) {
    let kept = prefix(out.get(start..).unwrap_or_default(), max).len();
    out.truncate(start + kept);
}

fn cut_off(out: &mut String, bytes: usize) {
    out.push_str("… (+");
    push_display(out, bytes);
    out.push_str(" bytes)");
}

/// Appends a `Display` value. Writing to a `String` does not fail.
pub(super) fn push_display(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

fn escape(out: &mut String, text: &str, quoted: bool) {
    let mut done = 0;
    for (at, char) in text.char_indices() {
        let escaped = match char {
            '"' | '\\' => quoted,
            ' '..='~' => char == '<',
            _ => hides(char),
        };
        if !escaped {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        done = at + char.len_utf8();
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
}

/// Returns `true` if a character breaks a line, is invisible, changes the direction of text, or resembles `<`. Joiners and
/// selectors are kept, because scripts and emoji need them.
fn hides(char: char) -> bool {
    is_hidden(char) || matches!(char, '\u{fe64}' | '\u{ff1c}')
}
