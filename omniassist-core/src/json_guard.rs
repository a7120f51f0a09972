//! Validation of JSON before it is parsed.
//!
//! Deep nesting can overflow the stack of a recursive parser. If an object contains a key twice, two parsers may use
//! different values, so the checked value may differ from the used one. [`check`] rejects both, and text that is not
//! JSON, in one pass over the bytes, without an allocation per value.
//!
//! It is not a `serde` visitor, because `serde_json` converts strings and numbers to values and therefore rejects half
//! surrogate pairs and numbers beyond the range of floats. Clients post both in the outputs of tools.
//!
//! ```
//! use omniassist_core::json_guard::check;
//!
//! assert!(check(br#"{"messages":[{"text":"[[[["}]}"#, 3).is_ok());
//! assert!(check(b"[[[[]]]]", 3).is_err());
//!
//! let twice = check(br#"{"messages":[{"id":"a","i\u0064":"b"}]}"#, 64).unwrap_err();
//! assert_eq!(twice.path(), Some("messages[0].id"));
//! ```

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::json_tokens::{Form, Token, Tokens, path_to, shown};
use crate::{Error, Result};

/// Up to this number, keys are compared pairwise, because sorting costs more.
const FEW: usize = 8;

/// Checks that the bytes are one JSON value, that arrays and objects are nested at most `max_depth` deep
/// ([`Limits::max_json_depth`](crate::Limits::max_json_depth)), and that no object contains a key twice. Different
/// spellings of a key are equal, such as `"a"` and `"\u0061"`. Brackets within strings do not count.
///
/// # Errors
///
/// Returns an error with the limit `max_json_depth`, with the path of the repeated key, or with the position of the
/// syntax error.
pub fn check(bytes: &[u8], max_depth: usize) -> Result<()> {
    let mut guard = Guard::new(bytes, max_depth);
    Tokens::of(bytes).try_for_each(|(offset, token)| guard.pass(offset, token))?;
    guard.end()
}

/// The state of a check. It receives one token after another.
pub(crate) struct Guard<'a> {
    bytes: &'a [u8],
    max_depth: usize,
    open: Vec<Open>,
    expected: Expected,
    /// The keys of all open objects, those of the innermost last.
    keys: Vec<Cow<'a, [u8]>>,
}

/// The tokens allowed next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

impl<'a> Guard<'a> {
    /// Creates a check of the tokens of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self { bytes, max_depth, open: Vec::new(), expected: Expected::Value, keys: Vec::new() }
    }

    /// Checks the next token. A call for each token would cost 5 % of reading a conversation, and the compiler's choice
    /// changes with unrelated code.
    #[inline(always)]
    pub(crate) fn pass(&mut self, offset: usize, token: Token<'a>) -> Result<()> {
        use Expected::{Colon, CommaOrEnd, Key, KeyOrEnd, Value, ValueOrEnd};
        self.expected = match (self.expected, token) {
            (Key | KeyOrEnd, Token::String(quoted)) if quoted.form != Form::Invalid => {
                self.keys.push(quoted.decode());
                Colon
            }
            (Colon, Token::Mark(b':')) => Value,
            (Value | ValueOrEnd, Token::String(quoted)) if quoted.form != Form::Invalid => CommaOrEnd,
            (Value | ValueOrEnd, Token::Word(word)) if is_value(word) => CommaOrEnd,
            (Value | ValueOrEnd, Token::Mark(mark @ (b'[' | b'{'))) => {
                if self.open.len() >= self.max_depth {
                    return Err(Error::limit_exceeded("max_json_depth", self.max_depth, None));
                }
                let is_object = mark == b'{';
                self.open.push(Open { offset, is_object, first_key: self.keys.len() });
                if is_object { KeyOrEnd } else { ValueOrEnd }
            }
            (CommaOrEnd, Token::Mark(b',')) => match self.open.last() {
                Some(open) if open.is_object => Key,
                Some(_) => Value,
                None => return Err(self.invalid()),
            },
            (KeyOrEnd | ValueOrEnd | CommaOrEnd, Token::Mark(mark @ (b']' | b'}'))) => {
                let closed = self.open.pop().filter(|open| open.is_object == (mark == b'}'));
                let Some(closed) = closed else { return Err(self.invalid()) };
                if let Some(twice) = self.keys.get_mut(closed.first_key..).and_then(twice) {
                    let error = Error::invalid_field(shown(twice), "a unique key", "a duplicate key");
                    let path = path_to(self.bytes, closed.offset);
                    return Err(if path.is_empty() { error } else { error.under(&path) });
                }
                self.keys.truncate(closed.first_key);
                CommaOrEnd
            }
            _ => return Err(self.invalid()),
        };
        Ok(())
    }

    /// Checks that the value is complete.
    pub(crate) fn end(&self) -> Result<()> {
        let is_complete = self.expected == Expected::CommaOrEnd && self.open.is_empty();
        if is_complete { Ok(()) } else { Err(self.invalid()) }
    }

    /// Creates the error for text that is not JSON, with the position reported by serde_json.
    fn invalid(&self) -> Error {
        match serde_json::from_slice::<IgnoredAny>(self.bytes) {
            Err(error) => Error::invalid_json(error),
            Ok(_) => Error::invalid_json("the text is not JSON"),
        }
    }
}

/// Returns `true` if the bytes are a number, `true`, `false` or `null`.
fn is_value(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null") || serde_json::from_slice::<IgnoredAny>(word).is_ok()
}

/// An open array or object.
struct Open {
    offset: usize,
    is_object: bool,
    first_key: usize,
}

/// Returns a key that occurs twice. Reorders the keys.
fn twice<'k>(keys: &'k mut [Cow<'_, [u8]>]) -> Option<&'k [u8]> {
    if keys.len() <= FEW {
        let mut rest = &*keys;
        while let Some((key, others)) = rest.split_first() {
            if others.contains(key) {
                return Some(key);
            }
            rest = others;
        }
        return None;
    }
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [a, b] if a == b => Some(&**a),
        _ => None,
    })
}
