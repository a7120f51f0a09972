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
    /// A string with its quotes.
    String(&'a [u8]),
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
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<(usize, Token<'a>)> {
        let rest = self.bytes.get(self.at..)?.trim_ascii_start();
        let offset = self.bytes.len() - rest.len();
        let token = match *rest.first()? {
            b'"' => Token::String(rest.get(..string_length(rest)).unwrap_or(rest)),
            mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => Token::Mark(mark),
            _ => Token::Word(rest.split(|byte| ends_word(*byte)).next()?),
        };
        self.at = offset
            + match token {
                Token::Mark(_) => 1,
                Token::String(bytes) | Token::Word(bytes) => bytes.len(),
            };
        Some((offset, token))
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// Returns the length of the string at the front, with its quotes. A string that does not end has no length.
pub(crate) fn string_length(quoted: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = quoted.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if quoted.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    usize::MAX
}

/// Returns the content of a string. Half a surrogate pair becomes the three bytes that it would have in UTF-8 (WTF-8).
/// A string that is not JSON keeps its escapes.
pub(crate) fn decode(quoted: &[u8]) -> Cow<'_, [u8]> {
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

    let content = quoted.strip_prefix(b"\"").unwrap_or_default();
    let content = content.strip_suffix(b"\"").unwrap_or(content);
    if memchr::memchr(b'\\', content).is_none() {
        return Cow::Borrowed(content);
    }
    let decoded = serde_json::Deserializer::from_slice(quoted).deserialize_bytes(Content);
    decoded.map_or(Cow::Borrowed(content), Cow::Owned)
}

/// Returns the path of the value that begins at `offset`: `items[2].id`. Long keys are cut.
pub(crate) fn path_to(json: &[u8], offset: usize) -> String {
    enum Step<'a> {
        Key(&'a [u8]),
        Index(usize),
    }
    let mut steps = Vec::new();
    let mut string: &[u8] = b"";
    for (_, token) in Tokens::of(json).take_while(|(at, _)| *at < offset) {
        match (token, steps.last_mut()) {
            (Token::String(quoted), _) => string = quoted,
            (Token::Mark(b'{'), _) => steps.push(Step::Key(b"")),
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
                path.push_str(&shown(&decode(key)));
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
