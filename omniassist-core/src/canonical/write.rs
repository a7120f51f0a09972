use std::borrow::Cow;

use super::number;
use crate::json_tokens::{Form, Quoted, Token, Tokens};

/// The nesting limit of a canonical form.
const MAX_DEPTH: usize = 128;

/// Appends the canonical form of one JSON value. Returns `true` if a key was omitted.
pub(super) fn write(json: &str, out: &mut Vec<u8>) -> Option<bool> {
    let start = out.len();
    out.reserve(json.len());
    let tokens = Tokens::of(json.as_bytes());
    let mut writer = Writer { tokens, out, entries: Vec::new(), posted: Vec::new(), left_out: false };
    let written = writer.next().and_then(|token| writer.value(token, 0));
    let left_out = writer.left_out;
    if written.is_none() {
        out.truncate(start);
    }
    written.map(|_| left_out)
}

struct Writer<'a, 'o> {
    tokens: Tokens<'a>,
    out: &'o mut Vec<u8>,
    /// The entries of all open objects, those of the innermost last.
    entries: Vec<Entry<'a>>,
    /// Scratch space for an object in its original order.
    posted: Vec<u8>,
    left_out: bool,
}

/// An entry of an object.
struct Entry<'a> {
    key: Cow<'a, [u8]>,
    /// The offset of the entry in the output, without the comma before it.
    start: usize,
    end: usize,
    is_refused: bool,
}

/// The properties of a written value that its object needs.
struct Written {
    has_prototype: bool,
}

impl<'a> Writer<'a, '_> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.tokens.next().map(|(_, token)| token)
    }

    /// Writes the value that begins with `token` and is nested `depth` levels deep.
    fn value(&mut self, token: Token<'a>, depth: usize) -> Option<Written> {
        let mut has_prototype = false;
        match token {
            Token::String(quoted) => string(quoted, self.out),
            Token::Word(word) => match token.number() {
                Some(number) => number::write(number, self.out)?,
                None => self.out.extend_from_slice(word),
            },
            Token::Mark(b'{') if depth < MAX_DEPTH => has_prototype = self.object(depth + 1)?,
            Token::Mark(b'[') if depth < MAX_DEPTH => self.array(depth + 1)?,
            Token::Mark(_) => return None,
        }
        Some(Written { has_prototype })
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.out.push(b'[');
        loop {
            match self.next()? {
                Token::Mark(b']') => break,
                Token::Mark(b',') => self.out.push(b','),
                token => {
                    self.value(token, depth)?;
                }
            }
        }
        self.out.push(b']');
        Some(())
    }

    /// Writes an object. Returns `true` if it has a key `prototype`.
    fn object(&mut self, depth: usize) -> Option<bool> {
        let (begin, first) = (self.out.len(), self.entries.len());
        let mut has_prototype = false;
        self.out.push(b'{');
        loop {
            let quoted = match self.next()? {
                Token::Mark(b'}') => break,
                Token::Mark(b',') => {
                    self.out.push(b',');
                    continue;
                }
                Token::String(quoted) => quoted,
                _ => return None,
            };
            let start = self.out.len();
            let key = quoted.decode();
            string(quoted, self.out);
            self.out.push(b':');
            (self.next()? == Token::Mark(b':')).then_some(())?;
            let token = self.next()?;
            let value = self.value(token, depth)?;
            has_prototype |= *key == *b"prototype";
            let is_refused = *key == *b"__proto__" || (*key == *b"constructor" && value.has_prototype);
            self.entries.push(Entry { key, start, end: self.out.len(), is_refused });
        }
        self.out.push(b'}');
        self.arrange(begin, first);
        self.entries.truncate(first);
        Some(has_prototype)
    }

    /// Sorts the entries of the object written from `begin` on, and removes those that do not count.
    fn arrange(&mut self, begin: usize, first: usize) {
        let entries = self.entries.get_mut(first..).unwrap_or_default();
        // The order of ASCII bytes is that of UTF-16.
        let are_ascii = entries.iter().all(|entry| entry.key.is_ascii());
        let in_order = |pair: &[Entry<'_>]| matches!(pair, [one, next] if one.key < next.key);
        if are_ascii && entries.windows(2).all(in_order) && !entries.iter().any(|entry| entry.is_refused) {
            return;
        }
        // Both sorts are stable.
        if are_ascii {
            entries.sort_by(|one, other| one.key.cmp(&other.key));
        } else {
            entries.sort_by_cached_key(|entry| utf16(&entry.key));
        }
        self.posted.clear();
        self.posted.extend(self.out.drain(begin..));
        self.out.push(b'{');
        let mut rest = &*entries;
        while let Some((entry, after)) = rest.split_first() {
            rest = after;
            if entry.is_refused || after.first().is_some_and(|next| next.key == entry.key) {
                self.left_out = true;
                continue;
            }
            if self.out.len() > begin + 1 {
                self.out.push(b',');
            }
            let range = entry.start - begin..entry.end - begin;
            self.out.extend_from_slice(self.posted.get(range).unwrap_or_default());
        }
        self.out.push(b'}');
    }
}

/// Writes a string as `JSON.stringify` does.
fn string(quoted: Quoted<'_>, out: &mut Vec<u8>) {
    if matches!(quoted.form, Form::Plain | Form::Escaped) {
        out.extend_from_slice(quoted.text);
        return;
    }
    let content = quoted.decode();
    if let Ok(text) = str::from_utf8(&content)
        && serde_json::to_writer(&mut *out, text).is_ok()
    {
        return;
    }
    out.push(b'"');
    for character in char::decode_utf16(utf16(&content)) {
        match character {
            Ok('"') => out.extend_from_slice(b"\\\""),
            Ok('\\') => out.extend_from_slice(b"\\\\"),
            Ok('\n') => out.extend_from_slice(b"\\n"),
            Ok('\r') => out.extend_from_slice(b"\\r"),
            Ok('\t') => out.extend_from_slice(b"\\t"),
            Ok('\u{8}') => out.extend_from_slice(b"\\b"),
            Ok('\u{c}') => out.extend_from_slice(b"\\f"),
            Ok(character) if character >= ' ' => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Ok(control) => out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes()),
            Err(half) => out.extend_from_slice(format!("\\u{:04x}", half.unpaired_surrogate()).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Returns the UTF-16 code units of a text in WTF-8.
fn utf16(text: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    let mut half = Vec::new();
    for chunk in text.utf8_chunks() {
        units.extend(chunk.valid().encode_utf16());
        half.extend_from_slice(chunk.invalid());
        if let [first, second, third] = *half {
            let unit = |byte: u8, bits: u32| u16::from(byte & 0x3f) << bits;
            units.push(unit(first, 12) | unit(second, 6) | unit(third, 0));
            half.clear();
        }
    }
    units
}
