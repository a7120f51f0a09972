use std::cmp::Ordering;

use super::key::{Units, sortable};
use super::{MAX_DEPTH, number};
use crate::json_scan::plain_length;

/// Appends the canonical form of one JSON value, and says whether a key was left out.
pub(super) fn write(json: &str, out: &mut Vec<u8>) -> Option<bool> {
    let start = out.len();
    out.reserve(json.len());
    let mut writer = Writer {
        text: json,
        at: 0,
        copied: 0,
        out,
        entries: Vec::new(),
        scratch: Vec::new(),
        depth: 0,
        left_out: false,
    };
    let written = writer.value().filter(|_| writer.peek().is_none()).and_then(|_| writer.copy());
    let left_out = writer.left_out;
    if written.is_none() {
        out.truncate(start);
    }
    written.map(|()| left_out)
}

/// Most of a value is canonical as it is written. It is passed over, and copied in long pieces: when something follows
/// that is written otherwise, and when an object is to be sorted.
struct Writer<'a, 'o> {
    text: &'a str,
    /// Where in the text the rest begins.
    at: usize,
    /// Up to where the text has been copied, or written otherwise.
    copied: usize,
    out: &'o mut Vec<u8>,
    /// The entries of all objects that are open, those of the innermost last.
    entries: Vec<Entry>,
    scratch: Vec<u8>,
    depth: usize,
    left_out: bool,
}

/// Where an entry of an object stands in the output, without the comma before it.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    key: Key,
    /// The first bytes of the key, as a number. No key has a zero in it, so a shorter one is the smaller number.
    head: u64,
    /// Whether the bytes of the key are in the order of its code units.
    is_plain: bool,
    kept: bool,
}

impl Entry {
    /// Compares keys byte by byte.
    fn cmp(&self, other: &Self, text: &str, out: &[u8]) -> Ordering {
        match self.head.cmp(&other.head) {
            Ordering::Equal => self.key.bytes(text, out).cmp(other.key.bytes(text, out)),
            unequal => unequal,
        }
    }
}

/// Where the content of a key stands. Keys are compared as they are written: each has one canonical spelling.
#[derive(Clone, Copy)]
enum Key {
    /// In the text, where it has no escapes.
    Text(usize, usize),
    /// In the output.
    Out(usize, usize),
}

impl Key {
    fn bytes<'k>(self, text: &'k str, out: &'k [u8]) -> &'k [u8] {
        match self {
            Self::Text(start, end) => text.as_bytes().get(start..end),
            Self::Out(start, end) => out.get(start..end),
        }
        .unwrap_or_default()
    }
}

/// What matters of a value that was written to the object that it stands in.
struct Written {
    has_prototype: bool,
}

impl Writer<'_, '_> {
    fn value(&mut self) -> Option<Written> {
        match self.peek()? {
            b'"' => {
                self.string()?;
            }
            b'0'..=b'9' | b'-' => self.number()?,
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
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            _ => self.literal("null")?,
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
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(byte)).count();
        let number = rest.get(..length)?;
        if number::is_canonical(number) {
            self.at += length;
            return Some(());
        }
        self.copy()?;
        number::write(number, self.out)?;
        self.at += length;
        self.copied = self.at;
        Some(())
    }

    /// Copies what was passed over.
    fn copy(&mut self) -> Option<()> {
        self.out.extend_from_slice(self.text.as_bytes().get(self.copied..self.at)?);
        self.copied = self.at;
        Some(())
    }

    /// Where in the output the next byte will stand.
    fn place(&self) -> usize {
        self.out.len() + (self.at - self.copied)
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        match *self.text.as_bytes().get(self.at)? {
            b' ' | b'\n' | b'\r' | b'\t' => self.peek_behind_space(),
            byte => Some(byte),
        }
    }

    #[cold]
    fn peek_behind_space(&mut self) -> Option<u8> {
        self.copy()?;
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.text.as_bytes().get(self.at..)?.iter().take_while(|byte| is_space(byte)).count();
        self.copied = self.at;
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte that may have white space before it.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    /// Writes the string that comes next, and says where its content stands.
    fn string(&mut self) -> Option<Key> {
        let from = self.at + 1;
        let bytes = self.text.as_bytes().get(from..)?;
        let mut length = plain_length(bytes);
        if bytes.get(length) == Some(&b'"') {
            self.at = from + length + 1;
            return Some(Key::Text(from, from + length));
        }
        while bytes.get(length) != Some(&b'"') {
            // A backslash, and what it makes of the character behind it.
            length += 2;
            length += plain_length(bytes.get(length..)?);
        }
        self.copy()?;
        let start = self.out.len() + 1;
        write_string(self.text.get(from..from + length)?, self.out)?;
        self.at = from + length + 1;
        self.copied = self.at;
        Some(Key::Out(start, self.out.len() - 1))
    }

    fn array(&mut self) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value()?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// Writes an object, and says whether it has a key `prototype`.
    fn object(&mut self) -> Option<bool> {
        let (start, first) = (self.place(), self.entries.len());
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(false);
        }
        let (mut has_prototype, mut in_order) = (false, true);
        loop {
            (self.peek()? == b'"').then_some(())?;
            let from = self.place();
            let key = self.string()?;
            self.take(b':')?;
            let value = self.value()?;
            let bytes = key.bytes(self.text, self.out);
            let kept = !(bytes == b"__proto__" || (value.has_prototype && bytes == b"constructor"));
            has_prototype |= bytes == b"prototype";
            let is_plain = matches!(key, Key::Text(..)) && bytes.is_ascii();
            let entry = Entry { start: from, end: self.place(), key, head: head(bytes), is_plain, kept };
            in_order &= kept && is_plain;
            if let Some(before) = self.entries.get(first..)?.last() {
                in_order = in_order && before.cmp(&entry, self.text, self.out).is_lt();
            }
            self.entries.push(entry);
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(b'}')?;
        if !in_order {
            self.sort(start, first)?;
        }
        self.entries.truncate(first);
        Some(has_prototype)
    }

    /// Brings the entries of the object that was written from `start` on into order.
    fn sort(&mut self, start: usize, first: usize) -> Option<()> {
        self.copy()?;
        let (entries, text, out) = (self.entries.get_mut(first..)?, self.text, &*self.out);
        if entries.iter().all(|entry| entry.is_plain) {
            entries.sort_by(|one, other| one.cmp(other, text, out));
        } else {
            entries.sort_by_cached_key(|entry| sortable(entry.key.bytes(text, out)));
        }
        // Of equal keys, the sort keeps the one written last behind the others.
        let mut after: Option<&Entry> = None;
        for entry in entries.iter_mut().rev() {
            entry.kept &= after.is_none_or(|after| after.cmp(entry, text, out).is_ne());
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

/// The first bytes of a key as a number that is in their order.
fn head(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(head) => u64::from_be_bytes(*head),
        None => {
            let mut head = [0; 8];
            head.iter_mut().zip(key).for_each(|(slot, byte)| *slot = *byte);
            u64::from_be_bytes(head)
        }
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
