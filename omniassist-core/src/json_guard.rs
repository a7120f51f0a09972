//! A check of JSON before it is parsed.
//!
//! Deep nesting costs a recursive parser its stack. Where a key stands twice, two parsers may take different values of it,
//! so the value that was checked is not the one that is used. [`check`] refuses both in one pass over the bytes, without
//! an allocation per value. It does not check the syntax.
//!
//! This is no `serde` visitor: `serde_json` reads strings and numbers to values on the way, and so refuses half
//! surrogate pairs and numbers that no float can hold. Clients post both in the outputs of tools.
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

use crate::json_tokens::{Token, Tokens, path_to, shown};
use crate::{Error, Result};

/// Up to this number, keys are compared each with each, since sorting costs more.
const FEW: usize = 8;

/// Checks that arrays and objects are nested at most `max_depth` deep
/// ([`Limits::max_json_depth`](crate::Limits::max_json_depth)), and that no object has a key twice, however it is spelled:
/// `"a"` and `"\u0061"` are one key. Brackets within strings do not count. Takes any bytes; of bytes that are not JSON it
/// may refuse what a parser would refuse anyway.
///
/// # Errors
///
/// Returns an error with the limit `max_json_depth`, or with the path of the key that stands twice.
pub fn check(bytes: &[u8], max_depth: usize) -> Result<()> {
    let mut guard = Guard::new(bytes, max_depth);
    Tokens::of(bytes).try_for_each(|(offset, token)| guard.pass(offset, token))
}

/// The state of a check, which is given token after token.
pub(crate) struct Guard<'a> {
    bytes: &'a [u8],
    max_depth: usize,
    open: Vec<Open>,
    /// `true` where a string is a key.
    awaits_key: bool,
    /// The keys of all objects that are open, those of the innermost last.
    keys: Vec<Cow<'a, [u8]>>,
}

impl<'a> Guard<'a> {
    /// Creates the check of the tokens of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self { bytes, max_depth, open: Vec::new(), awaits_key: false, keys: Vec::new() }
    }

    /// Checks the next token.
    pub(crate) fn pass(&mut self, offset: usize, token: Token<'a>) -> Result<()> {
        match token {
            Token::String(quoted) => {
                if std::mem::take(&mut self.awaits_key) {
                    self.keys.push(quoted.decode());
                }
            }
            Token::Mark(mark @ (b'[' | b'{')) => {
                if self.open.len() >= self.max_depth {
                    return Err(Error::limit_exceeded("max_json_depth", self.max_depth, None));
                }
                self.awaits_key = mark == b'{';
                let first_key = self.keys.len();
                self.open.push(Open { offset, is_object: self.awaits_key, first_key });
            }
            Token::Mark(b',') => {
                self.awaits_key = self.open.last().is_some_and(|open| open.is_object);
            }
            Token::Mark(b']' | b'}') => {
                self.awaits_key = false;
                let Some(closed) = self.open.pop() else { return Ok(()) };
                if let Some(twice) = self.keys.get_mut(closed.first_key..).and_then(twice) {
                    let error = Error::invalid_field(shown(twice), "a key once", "the key twice");
                    let path = path_to(self.bytes, closed.offset);
                    return Err(if path.is_empty() { error } else { error.under(&path) });
                }
                self.keys.truncate(closed.first_key);
            }
            Token::Mark(_) | Token::Word(_) => {}
        }
        Ok(())
    }
}

/// An array or an object that has not ended.
struct Open {
    offset: usize,
    is_object: bool,
    /// The index of its first key.
    first_key: usize,
}

/// Returns a key that stands twice. Reorders the keys.
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
