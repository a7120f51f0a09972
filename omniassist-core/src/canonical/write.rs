use std::cmp::Ordering;
use std::ops::Range;

use super::key::{Key, Units};
use super::{MAX_DEPTH, number};

/// Appends the canonical form of one JSON value, and says whether a key was left out.
pub(super) fn write(json: &str, out: &mut Vec<u8>) -> Option<bool> {
    let start = out.len();
    let mut writer =
        Writer { rest: json, out, entries: Vec::new(), scratch: Vec::new(), depth: 0, left_out: false };
    let written = writer.value().filter(|_| writer.rest.trim_ascii_start().is_empty());
    let left_out = writer.left_out;
    if written.is_none() {
        out.truncate(start);
    }
    written.map(|_| left_out)
}

struct Writer<'a, 'o> {
    /// What is still to be read.
    rest: &'a str,
    out: &'o mut Vec<u8>,
    /// The entries of all objects that are open, those of the innermost last.
    entries: Vec<Entry<'a>>,
    scratch: Vec<u8>,
    depth: usize,
    left_out: bool,
}

/// An entry of an object and where it was written, without the comma before it.
struct Entry<'a> {
    key: Key<'a>,
    /// What it is sorted by, where not all keys of the object are plain.
    sortable: Vec<u8>,
    written: Range<usize>,
    kept: bool,
}

/// What matters of a value that was written to the object that it stands in.
struct Written {
    has_prototype: bool,
}

impl<'a> Writer<'a, '_> {
    fn value(&mut self) -> Option<Written> {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes().first()? {
            b'{' => {
                self.descend()?;
                let has_prototype = self.object()?;
                self.depth -= 1;
                return Some(Written { has_prototype });
            }
            b'[' => {
                self.descend()?;
                self.array()?;
                self.depth -= 1;
            }
            b'"' => {
                let content = self.string()?;
                write_string(content, self.out)?;
            }
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = self.rest.bytes().take_while(|byte| is_part(byte)).count();
                let (text, rest) = self.rest.split_at_checked(length)?;
                number::write(text, self.out)?;
                self.rest = rest;
            }
        }
        Some(Written { has_prototype: false })
    }

    fn descend(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        self.out.extend_from_slice(word.as_bytes());
        Some(())
    }

    /// Takes a character that may have white space before it.
    fn take(&mut self, character: char) -> Option<()> {
        self.rest = self.rest.trim_ascii_start().strip_prefix(character)?;
        Some(())
    }

    /// Takes a string, and gives what stands between its quotes as it is spelled.
    fn string(&mut self) -> Option<&'a str> {
        let inner = self.rest.strip_prefix('"')?;
        let bytes = inner.as_bytes();
        let mut at = 0;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes.get(at) == Some(&b'"') {
                break;
            }
            at += 2;
        }
        let (content, rest) = inner.split_at_checked(at)?;
        self.rest = rest.get(1..)?;
        Some(content)
    }

    fn array(&mut self) -> Option<()> {
        self.take('[')?;
        self.out.push(b'[');
        if self.take(']').is_none() {
            loop {
                self.value()?;
                if self.take(',').is_none() {
                    break;
                }
                self.out.push(b',');
            }
            self.take(']')?;
        }
        self.out.push(b']');
        Some(())
    }

    /// Writes an object, and says whether it has a key `prototype`.
    fn object(&mut self) -> Option<bool> {
        self.take('{')?;
        let (start, first) = (self.out.len(), self.entries.len());
        self.out.push(b'{');
        let mut has_prototype = false;
        if self.take('}').is_none() {
            loop {
                self.rest = self.rest.trim_ascii_start();
                let spelled = self.string()?;
                let key = Key::new(spelled);
                let from = self.out.len();
                write_string(spelled, self.out)?;
                self.take(':')?;
                self.out.push(b':');
                let value = self.value()?;
                has_prototype |= key.is("prototype");
                let refused = key.is("__proto__") || (value.has_prototype && key.is("constructor"));
                let (written, kept) = (from..self.out.len(), !refused);
                self.entries.push(Entry { key, sortable: Vec::new(), written, kept });
                if self.take(',').is_none() {
                    break;
                }
                self.out.push(b',');
            }
            self.take('}')?;
        }
        self.out.push(b'}');
        self.sort(start, first)?;
        Some(has_prototype)
    }

    /// Brings the entries of the object that was written from `start` on into order.
    fn sort(&mut self, start: usize, first: usize) -> Option<()> {
        let entries = self.entries.get_mut(first..)?;
        if entries.iter().any(|entry| !entry.key.is_plain) {
            entries.iter_mut().for_each(|entry| entry.sortable = entry.key.sortable());
        }
        // Either all of them have sortable bytes, or none has.
        let order = |one: &Entry<'_>, other: &Entry<'_>| {
            one.sortable.cmp(&other.sortable).then_with(|| match one.sortable.is_empty() {
                true => one.key.spelled.cmp(other.key.spelled),
                false => Ordering::Equal,
            })
        };
        let in_order = entries.iter().all(|entry| entry.kept)
            && entries.is_sorted_by(|before, after| order(before, after).is_lt());
        if !in_order {
            entries.sort_by(order);
            // Of equal keys, the sort keeps the one written last behind the others.
            for at in 1..entries.len() {
                if let Some([before, after]) = entries.get_mut(at - 1..=at)
                    && order(before, after).is_eq()
                {
                    before.kept = false;
                }
            }
            self.left_out |= entries.iter().any(|entry| !entry.kept);
            self.scratch.clear();
            self.scratch.extend_from_slice(self.out.get(start..)?);
            self.out.truncate(start);
            self.out.push(b'{');
            let mut separator: &[u8] = b"";
            for entry in entries.iter().filter(|entry| entry.kept) {
                let written =
                    entry.written.start.checked_sub(start)?..entry.written.end.checked_sub(start)?;
                self.out.extend_from_slice(separator);
                self.out.extend_from_slice(self.scratch.get(written)?);
                separator = b",";
            }
            self.out.push(b'}');
        }
        self.entries.truncate(first);
        Some(())
    }
}

/// Writes a string as `JSON.stringify` does, given as the content of a JSON string.
fn write_string(content: &str, out: &mut Vec<u8>) -> Option<()> {
    out.push(b'"');
    let mut rest = content;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (clean, escaped) = rest.split_at_checked(at)?;
        out.extend_from_slice(clean.as_bytes());
        rest = escape(escaped, out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
    Some(())
}

/// Writes the character that is escaped at the front of `content`, and gives what follows it.
fn escape<'a>(content: &'a str, out: &mut Vec<u8>) -> Option<&'a str> {
    let mut units = Units::of(content);
    let unit = units.next()?;
    let mut rest = units.rest();
    let mut character = char::from_u32(u32::from(unit));
    if (0xd800..0xdc00).contains(&unit) && rest.starts_with("\\u") {
        let low = units.next()?;
        if let Some(Ok(whole)) = char::decode_utf16([unit, low]).next() {
            character = Some(whole);
            rest = units.rest();
        }
    }
    let short = match character {
        Some('"') => "\\\"",
        Some('\\') => "\\\\",
        Some('\n') => "\\n",
        Some('\r') => "\\r",
        Some('\t') => "\\t",
        Some('\u{8}') => "\\b",
        Some('\u{c}') => "\\f",
        Some(character) if character >= ' ' => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => {
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            return Some(rest);
        }
    };
    out.extend_from_slice(short.as_bytes());
    Some(rest)
}
