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
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl<'a> Quoted<'a> {
    /// Reads the string at the front. One that does not end takes all bytes.
    fn read(bytes: &'a [u8]) -> Self {
        Self(bytes.get(..string_length(bytes)).unwrap_or(bytes))
    }

    /// Returns the content of the string. Half a surrogate pair becomes the three bytes that it would have in UTF-8
    /// (WTF-8). A string that is not JSON keeps its escapes.
    pub(crate) fn decode(self) -> Cow<'a, [u8]> {
        let content = self.0.strip_prefix(b"\"").unwrap_or_default();
        let content = content.strip_suffix(b"\"").unwrap_or(content);
        if find(b'\\', content).is_none() {
            return Cow::Borrowed(content);
        }
        let by_serde = || serde_json::Deserializer::from_slice(self.0).deserialize_bytes(Content).ok();
        unescape(content).or_else(by_serde).map_or(Cow::Borrowed(content), Cow::Owned)
    }

    /// Returns the characters that backslashes escape.
    pub(crate) fn escaped(self) -> impl Iterator<Item = u8> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let [_, escaped, after @ ..] = rest.get(find(b'\\', rest)?..)? else { return None };
            rest = after;
            Some(*escaped)
        })
    }
}

/// Replaces escapes of one character. Returns `None` where there are others.
///
/// `serde_json` reads all escapes, at twice the cost for text with many line breaks and quotes.
fn unescape(content: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = find(b'\\', rest) {
        let (plain, escape) = rest.split_at_checked(at)?;
        let [_, escaped, after @ ..] = escape else { return None };
        decoded.extend_from_slice(plain);
        decoded.push(match escaped {
            b'"' | b'\\' | b'/' => *escaped,
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => b'\x08',
            b'f' => b'\x0c',
            _ => return None,
        });
        rest = after;
    }
    decoded.extend_from_slice(rest);
    Some(decoded)
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
            _ => {
                let length = rest.iter().position(|byte| ends_word(*byte)).unwrap_or(rest.len());
                Token::Word(rest.get(..length)?)
            }
        };
        self.at = offset
            + match token {
                Token::Mark(_) => 1,
                Token::String(quoted) => quoted.0.len(),
                Token::Word(word) => word.len(),
            };
        Some((offset, token))
    }
}

fn ends_word(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// Returns the length of the string at the front, with its quotes. A string that does not end has no length.
pub(crate) fn string_length(quoted: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = quoted.get(at..).and_then(|rest| find(b'"', rest)) {
        let content = quoted.get(1..at + found).unwrap_or_default();
        at += found + 1;
        if content.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2) {
            return at;
        }
    }
    usize::MAX
}

/// Returns the place of the first such byte.
///
/// In keys, short values and text with many escapes it is found in the first words, before a vector search would have
/// begun.
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    let mut searched = 0;
    for word in bytes.as_chunks().0.iter().take(WORDS) {
        // Sets the high bit of each byte of the word that is equal to `byte`; above the first, perhaps also of others.
        let zeros = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        match zeros.wrapping_sub(ONES) & !zeros & HIGH_BITS {
            0 => searched += word.len(),
            found => return Some(searched + found.trailing_zeros() as usize / 8),
        }
    }
    let rest = bytes.get(searched..)?;
    let found = if rest.len() < 8 {
        rest.iter().position(|other| *other == byte)
    } else {
        memchr::memchr(byte, rest)
    };
    found.map(|at| searched + at)
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
