//! JSON text as a sequence of tokens, for code that walks over it without building a tree.
//!
//! Unlike a `serde` visitor, a walk over tokens keeps numbers that no double can hold and half surrogate pairs. Clients
//! post both in the outputs of tools.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Visitor};

/// Characters of a key that a path repeats.
const SHOWN: usize = 64;

/// A token of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A bracket, brace, comma or colon.
    Mark(u8),
    String(Quoted<'a>),
    /// A number, `true`, `false` or `null`.
    Word(&'a [u8]),
}

impl<'a> Token<'a> {
    /// Returns the text of a number.
    pub(crate) fn number(self) -> Option<&'a str> {
        match self {
            Self::Word(word @ [b'-' | b'0'..=b'9', ..]) => str::from_utf8(word).ok(),
            _ => None,
        }
    }
}

/// A string of JSON text, with its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted<'a> {
    bytes: &'a [u8],
    has_escapes: bool,
}

impl<'a> Quoted<'a> {
    /// Reads the string at the front. One that does not end takes all bytes.
    fn read(bytes: &'a [u8]) -> Self {
        let (length, has_escapes) = string_length(bytes);
        Self { bytes: bytes.get(..length).unwrap_or(bytes), has_escapes }
    }

    /// Returns the string as it is written.
    pub(crate) fn as_written(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the content of the string. Half a surrogate pair becomes the three bytes that it would have in UTF-8
    /// (WTF-8). A string that is not JSON keeps its escapes.
    pub(crate) fn decode(self) -> Cow<'a, [u8]> {
        let content = self.bytes.strip_prefix(b"\"").unwrap_or_default();
        let content = content.strip_suffix(b"\"").unwrap_or(content);
        if !self.has_escapes {
            return Cow::Borrowed(content);
        }
        let decoded = serde_json::Deserializer::from_slice(self.bytes).deserialize_bytes(Content);
        decoded.map_or(Cow::Borrowed(content), Cow::Owned)
    }

    /// Returns the characters that backslashes escape.
    pub(crate) fn escaped(self) -> impl Iterator<Item = u8> {
        let searched = if self.has_escapes { self.bytes } else { &[] };
        memchr::memchr_iter(b'\\', searched).filter_map(|at| self.bytes.get(at + 1).copied())
    }
}

/// Reads the content of a string as bytes.
struct Content;

impl Visitor<'_> for Content {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

/// The tokens of JSON text, with their offsets. Takes any bytes; what is not JSON is split in some way.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Skips white space, and returns the byte after it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                0..=b' ' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Returns the place of the bytes that were not read yet.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<(usize, Token<'a>)> {
        let first = self.peek()?;
        let offset = self.at;
        let rest = self.bytes.get(offset..)?;
        let token = match first {
            b'"' => Token::String(Quoted::read(rest)),
            mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => Token::Mark(mark),
            _ => Token::Word(rest.split(|byte| ends_word(*byte)).next()?),
        };
        self.at = offset
            + match token {
                Token::Mark(_) => 1,
                Token::String(quoted) => quoted.bytes.len(),
                Token::Word(word) => word.len(),
            };
        Some((offset, token))
    }
}

fn ends_word(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// Returns the length of the string at the front, with its quotes, and `true` if it has escapes. A string that does not
/// end has no length.
pub(crate) fn string_length(quoted: &[u8]) -> (usize, bool) {
    let (mut at, mut has_escapes) = (1, false);
    while let Some(rest) = quoted.get(at..) {
        let Some(found) = quote_or_backslash(rest) else { break };
        at += found;
        if quoted.get(at) == Some(&b'"') {
            return (at + 1, has_escapes);
        }
        has_escapes = true;
        at += 2;
    }
    (usize::MAX, has_escapes)
}

/// Returns the place of the first quote or backslash.
///
/// Keys, short values and text with many escapes are found in the first words, before a vector search would have begun.
fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, _) = bytes.as_chunks();
    let mut searched = 0;
    for word in words.iter().take(WORDS) {
        // Sets the high bit of each byte of the word that is equal to `byte`; above the first, perhaps also of others.
        let equal = |byte: u8| {
            let zeros = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
            zeros.wrapping_sub(ONES) & !zeros & HIGH_BITS
        };
        match equal(b'"') | equal(b'\\') {
            0 => searched += word.len(),
            found => return Some(searched + found.trailing_zeros() as usize / 8),
        }
    }
    memchr::memchr2(b'"', b'\\', bytes.get(searched..)?).map(|at| searched + at)
}

/// Returns the path of the value that begins at `offset`: `items[2].id`. Long keys are cut.
pub(crate) fn path_to(json: &[u8], offset: usize) -> String {
    enum Step<'a> {
        Key(Quoted<'a>),
        Index(usize),
    }
    let mut steps = Vec::new();
    let mut string = Quoted::read(b"");
    for (_, token) in Tokens::of(json).take_while(|(at, _)| *at < offset) {
        match (token, steps.last_mut()) {
            (Token::String(quoted), _) => string = quoted,
            (Token::Mark(b'{'), _) => steps.push(Step::Key(Quoted::read(b""))),
            (Token::Mark(b'['), _) => steps.push(Step::Index(0)),
            (Token::Mark(b'}' | b']'), _) => drop(steps.pop()),
            (Token::Mark(b':'), Some(Step::Key(key))) => *key = string,
            (Token::Mark(b','), Some(Step::Index(index))) => *index += 1,
            _ => {}
        }
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&shown(&key.decode()));
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// Returns a key as an error shows it.
pub(crate) fn shown(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.into_owned(),
    }
}
