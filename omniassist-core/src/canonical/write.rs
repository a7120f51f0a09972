use std::cmp::Ordering;

use super::key::{Units, sortable};
use super::number;
use crate::json_scan::plain_length;

/// Nesting beyond which a value has no canonical form.
const MAX_DEPTH: usize = 128;

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Bytes of a key that are compared at once.
const WORD: usize = 8;

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
        order: Vec::new(),
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
    /// The keys' first bytes and the entries they belong to, of the object that is sorted.
    order: Vec<(u64, usize)>,
    depth: usize,
    left_out: bool,
}

/// Where an entry of an object stands in the output, without the comma before it.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    /// Where the content of its key stands. Keys are compared as they are written: each has one canonical spelling.
    key: Key,
    /// The first bytes of the key, as a number. No key has a zero in it, so a shorter one is the smaller number.
    head: u64,
    /// `true` if the bytes of the key are in the order of its code units.
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

/// Where the content of a string stands.
#[derive(Clone, Copy)]
struct Key {
    from: usize,
    to: usize,
    /// `true` if the content is in the text, `false` if it is in the output.
    is_in_text: bool,
    has_escapes: bool,
}

impl Key {
    fn bytes<'k>(self, text: &'k str, out: &'k [u8]) -> &'k [u8] {
        let bytes = if self.is_in_text { text.as_bytes() } else { out };
        bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Its first bytes as a number that is in their order.
    fn head(self, text: &str, out: &[u8]) -> u64 {
        let bytes = if self.is_in_text { text.as_bytes() } else { out };
        let length = self.to - self.from;
        match bytes.get(self.from..).and_then(<[u8]>::first_chunk) {
            _ if length == 0 => 0,
            Some(head) if length < WORD => u64::from_be_bytes(*head) & (u64::MAX << (8 * (WORD - length))),
            Some(head) => u64::from_be_bytes(*head),
            None => {
                let mut head = [0; WORD];
                head.iter_mut().zip(self.bytes(text, out)).for_each(|(slot, byte)| *slot = *byte);
                u64::from_be_bytes(head)
            }
        }
    }

    fn is_ascii(self, head: u64, text: &str, out: &[u8]) -> bool {
        head & HIGH_BITS == 0 && (self.to - self.from <= WORD || self.bytes(text, out).is_ascii())
    }

    fn name(self, text: &str, out: &[u8]) -> Name {
        match self.to - self.from {
            9 if self.bytes(text, out) == b"__proto__" => Name::Proto,
            9 if self.bytes(text, out) == b"prototype" => Name::Prototype,
            11 if self.bytes(text, out) == b"constructor" => Name::Constructor,
            _ => Name::Other,
        }
    }
}

/// The names that clients look at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Proto,
    Prototype,
    Constructor,
    Other,
}

/// The facts about a written value that its object needs.
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
        let bytes = self.text.as_bytes().get(self.at..)?;
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (1..=number::EXACT_DIGITS).contains(&digits)
            && !matches!(bytes.get(digits), Some(b'.' | b'e' | b'E'))
        {
            self.at += digits;
            return Some(());
        }
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
    #[inline]
    fn string(&mut self) -> Option<Key> {
        let from = self.at + 1;
        let bytes = self.text.as_bytes().get(from..)?;
        let length = plain_length(bytes);
        if bytes.get(length) != Some(&b'"') {
            return self.escaped_string(from, length);
        }
        self.at = from + length + 1;
        Some(Key { from, to: from + length, is_in_text: true, has_escapes: false })
    }

    /// The same of a string that is plain up to `length`, where it has its first escape.
    fn escaped_string(&mut self, from: usize, mut length: usize) -> Option<Key> {
        let bytes = self.text.as_bytes().get(from..)?;
        let mut is_canonical = true;
        while bytes.get(length) != Some(&b'"') {
            // A backslash, and what it makes of the character behind it.
            is_canonical &= !matches!(bytes.get(length + 1)?, b'u' | b'/');
            length += 2;
            length += plain_length(bytes.get(length..)?);
        }
        let to = from + length;
        if is_canonical {
            self.at = to + 1;
            return Some(Key { from, to, is_in_text: true, has_escapes: true });
        }
        self.copy()?;
        let start = self.out.len() + 1;
        write_string(self.text.get(from..to)?, self.out)?;
        self.at = to + 1;
        self.copied = self.at;
        Some(Key { from: start, to: self.out.len() - 1, is_in_text: false, has_escapes: true })
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
            let head = key.head(self.text, self.out);
            let name = key.name(self.text, self.out);
            has_prototype |= name == Name::Prototype;
            let kept = !(name == Name::Proto || (name == Name::Constructor && value.has_prototype));
            let is_plain = !key.has_escapes && key.is_ascii(head, self.text, self.out);
            let entry = Entry { start: from, end: self.place(), key, head, is_plain, kept };
            in_order &= kept && is_plain;
            if in_order && let Some(before) = self.entries.get(first..)?.last() {
                in_order = before.cmp(&entry, self.text, self.out).is_lt();
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
        let are_plain = entries.iter().all(|entry| entry.is_plain && entry.kept);
        self.order.clear();
        if are_plain {
            self.order.extend(entries.iter().enumerate().map(|(at, entry)| (entry.head, at)));
            self.order.sort_unstable();
        }
        let differ = |pair: &[(u64, usize)]| matches!(pair, [(one, _), (next, _)] if one != next);
        if !are_plain || !self.order.windows(2).all(differ) {
            self.left_out |= order_whole(entries, text, out);
            self.order.clear();
            let kept = entries.iter().enumerate().filter(|(_, entry)| entry.kept);
            self.order.extend(kept.map(|(at, entry)| (entry.head, at)));
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(out.get(start + 1..)?);
        self.out.truncate(start + 1);
        let mut comma: &[u8] = b"";
        for (_, at) in &self.order {
            let entry = entries.get(*at)?;
            self.out.extend_from_slice(comma);
            comma = b",";
            self.out.extend_from_slice(self.scratch.get(entry.start - start - 1..entry.end - start - 1)?);
        }
        self.out.push(b'}');
        Some(())
    }
}

/// Sorts entries by their whole keys, marks those that are not kept, and says whether there are any.
fn order_whole(entries: &mut [Entry], text: &str, out: &[u8]) -> bool {
    if entries.iter().all(|entry| entry.is_plain) {
        entries.sort_by(|one, other| one.cmp(other, text, out));
    } else {
        entries.sort_by_cached_key(|entry| sortable(entry.key.bytes(text, out)));
    }
    let mut left_out = false;
    // Of equal keys, the sort keeps the one written last behind the others.
    let mut after: Option<&Entry> = None;
    for entry in entries.iter_mut().rev() {
        entry.kept &= after.is_none_or(|after| after.cmp(entry, text, out).is_ne());
        left_out |= !entry.kept;
        after = Some(entry);
    }
    left_out
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
