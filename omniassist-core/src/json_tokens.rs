//! A tokeniser of JSON text, for code that needs no tree.
//!
//! Unlike a `serde` visitor, it keeps numbers beyond the range of doubles and half surrogate pairs. Clients post both
//! in the outputs of tools.

use std::borrow::Cow;

use bytes::Bytes;

/// The number of characters of a key that a path contains.
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

/// A string in JSON text, with its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The content is the string's value.
    Plain,
    /// All escapes have one character and are among those of `JSON.stringify`.
    Escaped,
    OtherEscapes,
    /// The string does not end, or contains a control character or an unknown escape.
    Invalid,
}

impl<'a> Quoted<'a> {
    /// Wraps a string that is valid JSON.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self { text, form: memchr::memchr(b'\\', text).map_or(Form::Plain, |_| Form::OtherEscapes) }
    }

    /// Reads the string at the start. An invalid string takes all bytes.
    fn read(bytes: &'a [u8]) -> Self {
        let (mut at, mut form) = (1, Form::Plain);
        while let Some(rest) = bytes.get(at..)
            && let Some(found) = find_special(rest)
        {
            let (length, escape) = match rest.get(found..).unwrap_or_default() {
                [b'"', ..] => return Self { text: bytes.get(..=at + found).unwrap_or(bytes), form },
                [b'\\', b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => (2, Form::Escaped),
                [b'\\', b'/', ..] => (2, Form::OtherEscapes),
                [b'\\', b'u', a, b, c, d, ..]
                    if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
                {
                    (6, Form::OtherEscapes)
                }
                _ => break,
            };
            at += found + length;
            form = if form == Form::OtherEscapes { form } else { escape };
        }
        Self { text: bytes, form: Form::Invalid }
    }

    /// Returns the content of the string. Half a surrogate pair becomes its three bytes in WTF-8. An invalid string
    /// keeps its escapes.
    pub(crate) fn decode(self) -> Cow<'a, [u8]> {
        let content = self.text.strip_prefix(b"\"").unwrap_or_default();
        let content = content.strip_suffix(b"\"").unwrap_or(content);
        if self.form == Form::Plain {
            return Cow::Borrowed(content);
        }
        let by_serde = || serde_json::from_slice::<Bytes>(self.text).ok().map(Vec::from);
        unescape(content).or_else(by_serde).map_or(Cow::Borrowed(content), Cow::Owned)
    }
}

/// Replaces escapes of one character. Returns `None` if there are others.
///
/// `serde_json` handles all escapes, at twice the cost for text with many line breaks and quotes.
fn unescape(content: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = memchr::memchr(b'\\', rest) {
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

/// An iterator over the tokens of JSON text, with their offsets. It accepts any bytes; invalid JSON has arbitrary
/// tokens.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Skips white space and returns the next byte.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Returns the offset of the unread bytes.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    #[inline]
    fn next(&mut self) -> Option<(usize, Token<'a>)> {
        let first = self.peek()?;
        let offset = self.at;
        if matches!(first, b'{' | b'}' | b'[' | b']' | b',' | b':') {
            self.at += 1;
            return Some((offset, Token::Mark(first)));
        }
        let rest = self.bytes.get(offset..)?;
        if first == b'"' {
            let quoted = Quoted::read(rest);
            self.at += quoted.text.len();
            return Some((offset, Token::String(quoted)));
        }
        let length = rest.iter().position(|byte| ends_word(*byte)).unwrap_or(rest.len()).max(1);
        self.at += length;
        Some((offset, Token::Word(rest.get(..length)?)))
    }
}

fn ends_word(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// Returns the offset of the first quote, backslash or control character.
///
/// Strings are usually short or have many escapes, and the start of a vector search costs more.
pub(crate) fn find_special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, rest) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Sets the high bit of each byte below `limit`. Further high bits may be set above the first one.
        let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
        let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let found = (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH_BITS;
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '));
    found.map(|at| words.len() * 8 + at)
}

/// Returns the path of the value at `offset`, such as `items[2].id`. Long keys are truncated.
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

/// Returns a key in the form for errors.
pub(crate) fn shown(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.into_owned(),
    }
}
