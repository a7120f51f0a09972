use super::key::{Units, sortable};
use super::{MAX_DEPTH, number};
use crate::json_scan::plain_length;

/// Appends the canonical form of one JSON value, and says whether a key was left out.
pub(super) fn write(json: &str, out: &mut Vec<u8>) -> Option<bool> {
    let start = out.len();
    let mut writer = Writer {
        text: json,
        at: 0,
        out,
        entries: Vec::new(),
        scratch: Vec::new(),
        depth: 0,
        left_out: false,
    };
    let written = writer.value().filter(|_| writer.peek().is_none());
    let left_out = writer.left_out;
    if written.is_none() {
        out.truncate(start);
    }
    written.map(|_| left_out)
}

struct Writer<'a, 'o> {
    text: &'a str,
    /// Where in the text the rest begins.
    at: usize,
    out: &'o mut Vec<u8>,
    /// The entries of all objects that are open, those of the innermost last.
    entries: Vec<Entry>,
    scratch: Vec<u8>,
    depth: usize,
    left_out: bool,
}

/// Where an entry of an object was written, without the comma before it.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    /// Where its key ends, whose content begins behind the quote at the start. A key is compared as it was written:
    /// each has one canonical spelling.
    key_end: usize,
    /// Whether the bytes of the key are in the order of its code units.
    is_plain: bool,
    kept: bool,
}

impl Entry {
    fn key<'o>(&self, out: &'o [u8]) -> &'o [u8] {
        out.get(self.start + 1..self.key_end).unwrap_or_default()
    }
}

/// What matters of a value that was written to the object that it stands in.
struct Written {
    has_prototype: bool,
}

impl Writer<'_, '_> {
    fn value(&mut self) -> Option<Written> {
        match self.peek()? {
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
                self.string()?;
            }
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let rest = self.text.get(self.at..)?;
                let length = rest.bytes().take_while(|byte| is_part(byte)).count();
                number::write(rest.get(..length)?, self.out)?;
                self.at += length;
            }
        }
        Some(Written { has_prototype: false })
    }

    fn descend(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        self.out.extend_from_slice(word.as_bytes());
        Some(())
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Takes a byte that may have white space before it.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    /// Writes the string that comes next, and says whether it was free of escapes.
    fn string(&mut self) -> Option<bool> {
        let from = self.at + 1;
        let bytes = self.text.as_bytes().get(from..)?;
        let mut length = plain_length(bytes);
        if bytes.get(length) == Some(&b'"') {
            // With both quotes.
            self.out.extend_from_slice(self.text.as_bytes().get(self.at..=from + length)?);
            self.at = from + length + 1;
            return Some(true);
        }
        while bytes.get(length) != Some(&b'"') {
            // A backslash, and what it makes of the character behind it.
            length += 2;
            length += plain_length(bytes.get(length..)?);
        }
        write_string(self.text.get(from..from + length)?, self.out)?;
        self.at = from + length + 1;
        Some(false)
    }

    fn array(&mut self) -> Option<()> {
        self.take(b'[')?;
        self.out.push(b'[');
        if self.take(b']').is_none() {
            loop {
                self.value()?;
                if self.take(b',').is_none() {
                    break;
                }
                self.out.push(b',');
            }
            self.take(b']')?;
        }
        self.out.push(b']');
        Some(())
    }

    /// Writes an object, and says whether it has a key `prototype`.
    fn object(&mut self) -> Option<bool> {
        self.take(b'{')?;
        let (start, first) = (self.out.len(), self.entries.len());
        self.out.push(b'{');
        let (mut has_prototype, mut in_order) = (false, true);
        if self.take(b'}').is_none() {
            loop {
                (self.peek()? == b'"').then_some(())?;
                let from = self.out.len();
                let is_unescaped = self.string()?;
                let key_end = self.out.len() - 1;
                self.take(b':')?;
                self.out.push(b':');
                let value = self.value()?;
                let mut entry =
                    Entry { start: from, end: self.out.len(), key_end, is_plain: false, kept: true };
                let key = entry.key(self.out);
                entry.is_plain = is_unescaped && key.is_ascii();
                entry.kept = !(key == b"__proto__" || (value.has_prototype && key == b"constructor"));
                has_prototype |= key == b"prototype";
                in_order &= entry.kept && entry.is_plain;
                if let Some(before) = self.entries.get(first..)?.last() {
                    in_order = in_order && before.key(self.out) < key;
                }
                self.entries.push(entry);
                if self.take(b',').is_none() {
                    break;
                }
                self.out.push(b',');
            }
            self.take(b'}')?;
        }
        self.out.push(b'}');
        if !in_order {
            self.sort(start, first)?;
        }
        self.entries.truncate(first);
        Some(has_prototype)
    }

    /// Brings the entries of the object that was written from `start` on into order.
    fn sort(&mut self, start: usize, first: usize) -> Option<()> {
        let (entries, out) = (self.entries.get_mut(first..)?, &*self.out);
        if entries.iter().all(|entry| entry.is_plain) {
            entries.sort_by(|one, other| one.key(out).cmp(other.key(out)));
        } else {
            entries.sort_by_cached_key(|entry| sortable(entry.key(out)));
        }
        // Of equal keys, the sort keeps the one written last behind the others.
        let mut after: Option<&Entry> = None;
        for entry in entries.iter_mut().rev() {
            entry.kept &= after.is_none_or(|after| after.key(out) != entry.key(out));
            self.left_out |= !entry.kept;
            after = Some(entry);
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(out.get(start..)?);
        self.out.truncate(start + 1);
        for entry in entries.iter().filter(|entry| entry.kept) {
            if self.out.len() > start + 1 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(self.scratch.get(entry.start - start..entry.end - start)?);
        }
        self.out.push(b'}');
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
