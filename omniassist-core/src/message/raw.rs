//! Parsing of posted JSON in one pass.
//!
//! The values of known keys are kept as slices of the body. Each is parsed on use, so a value of the wrong type leads
//! to an error with its exact path, and text without escapes shares the body's buffer.

use std::borrow::Cow;
use std::fmt;

use crate::json_guard::{self, Guard};
use crate::json_tokens::{Token, Tokens};
use crate::{Error, Result};

/// An object that keeps the values of known keys.
pub(crate) trait Record<'a> {
    /// Reads the value of `key`. Returns `false` without reading the value if the key is unknown.
    fn set(&mut self, key: &str, value: &mut Reader<'a>) -> Result<bool>;
}

/// A posted value as text. It was checked before, so it is valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Returns the text, without surrounding white space.
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

/// Declares a [`Record`] that keeps each value as text.
macro_rules! raw_record {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $key:literal,)* }) => {
        $(#[$meta])*
        #[derive(Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<$crate::message::raw::Raw<'a>>,)*
        }

        impl<'a> $crate::message::raw::Record<'a> for $name<'a> {
            fn set(&mut self, key: &str, value: &mut $crate::message::raw::Reader<'a>) -> $crate::Result<bool> {
                let slot = match key {
                    $($key => &mut self.$field,)*
                    _ => return Ok(false),
                };
                *slot = Some(value.raw()?);
                Ok(true)
            }
        }
    };
}
pub(crate) use raw_record;

/// The result of reading a `T`.
pub(crate) enum Found<T> {
    /// The expected value.
    Value(T),
    /// An array with more elements than allowed.
    TooMany,
    /// A value of another kind.
    Other(&'static str),
}

impl<T> Found<T> {
    /// Maps the value.
    pub(crate) fn map<U>(self, of: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Value(value) => Found::Value(of(value)),
            Self::TooMany => Found::TooMany,
            Self::Other(kind) => Found::Other(kind),
        }
    }

    /// Returns the value, or an error with `path`. `limit` is the name and value of the array's limit.
    pub(crate) fn at(
        self,
        path: impl fmt::Display,
        expected: &'static str,
        limit: (&'static str, usize),
    ) -> Result<T> {
        match self {
            Self::Value(value) => Ok(value),
            Self::TooMany => Err(Error::limit_exceeded(limit.0, limit.1, path.to_string())),
            Self::Other(kind) => Err(Error::invalid_field(path.to_string(), expected, kind)),
        }
    }

    /// Like [`at`](Self::at), for objects.
    pub(crate) fn object_at(self, path: impl fmt::Display, expected: &'static str) -> Result<T> {
        self.at(path, expected, ("", usize::MAX))
    }
}

/// A parser of text. Each method reads one complete value.
pub(crate) struct Reader<'a> {
    text: &'a str,
    tokens: Tokens<'a>,
    /// The check of the tokens, or `None` if they were checked before.
    guard: Option<Guard<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Token<'a>> {
        let (offset, token) =
            self.tokens.next().ok_or_else(|| Error::invalid_json("a value is not complete"))?;
        if let Some(guard) = &mut self.guard {
            guard.pass(offset, token)?;
        }
        Ok(token)
    }

    /// Enters an array or an object. Skips a value of another kind and returns its kind.
    fn enter(&mut self, mark: u8) -> Result<Option<&'static str>> {
        if self.tokens.peek() == Some(mark) {
            return self.next().map(|_| None);
        }
        self.raw().map(kind).map(Some)
    }

    /// Advances to the next element or entry. Returns `false` after the last one.
    fn advance(&mut self) -> Result<bool> {
        match self.tokens.peek() {
            Some(mark @ (b',' | b']' | b'}')) => self.next().map(|_| mark == b','),
            _ => Ok(true),
        }
    }

    fn skip(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                Token::Mark(b'{' | b'[') => depth += 1,
                Token::Mark(b'}' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Reads any value as text.
    pub(crate) fn raw(&mut self) -> Result<Raw<'a>> {
        self.with_raw(Self::skip).map(|(raw, ())| raw)
    }

    /// Reads a value, and returns its text as well.
    pub(crate) fn with_raw<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Raw<'a>, T)> {
        self.tokens.peek();
        let start = self.tokens.offset();
        let value = read(self)?;
        Ok((Raw(self.text.get(start..self.tokens.offset()).unwrap_or_default()), value))
    }

    /// Reads an object into a [`Record`].
    pub(crate) fn object<R: Record<'a>>(&mut self, mut record: R) -> Result<Found<R>> {
        if let Some(other) = self.enter(b'{')? {
            return Ok(Found::Other(other));
        }
        while self.advance()? {
            let key = match self.next()? {
                Token::String(quoted) => quoted.decode(),
                _ => Cow::Borrowed(&[][..]),
            };
            // The colon.
            self.next()?;
            if !record.set(str::from_utf8(&key).map_err(Error::invalid_json)?, self)? {
                self.skip()?;
            }
        }
        Ok(Found::Value(record))
    }

    /// Reads an array of at most `limit` elements. Elements beyond the limit are skipped without using memory.
    pub(crate) fn array<T>(
        &mut self,
        limit: usize,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Found<Vec<T>>> {
        if let Some(other) = self.enter(b'[')? {
            return Ok(Found::Other(other));
        }
        let (mut items, mut too_many) = (Vec::new(), false);
        while self.advance()? {
            if items.len() < limit {
                items.push(item(self)?);
            } else {
                too_many = true;
                self.skip()?;
            }
        }
        Ok(if too_many { Found::TooMany } else { Found::Value(items) })
    }
}

/// Reads a complete posted text, including the checks of [`json_guard::check`]. Their errors precede those of `read`.
pub(crate) fn read<'a, T>(
    text: &'a str,
    max_depth: usize,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> Result<T> {
    let guard = Some(Guard::new(text.as_bytes(), max_depth));
    let mut reader = Reader { text, tokens: Tokens::of(text.as_bytes()), guard };
    let value = read(&mut reader).and_then(|value| match reader.tokens.peek() {
        None => Ok(value),
        Some(_) => Err(Error::invalid_json("there is text behind the value")),
    });
    value.or_else(|error| json_guard::check(text.as_bytes(), max_depth).and(Err(error)))
}

/// Returns a parser of a value.
pub(crate) fn reader(raw: Raw<'_>) -> Reader<'_> {
    Reader { text: raw.get(), tokens: Tokens::of(raw.get().as_bytes()), guard: None }
}

/// Reads an object and keeps its values as text.
pub(crate) fn object<'a, R: Record<'a> + Default>(raw: Raw<'a>) -> Result<Found<R>> {
    reader(raw).object(R::default())
}

/// Reads an array and keeps its elements as text.
pub(crate) fn array(raw: Raw<'_>, limit: usize) -> Result<Found<Vec<Raw<'_>>>> {
    reader(raw).array(limit, Reader::raw)
}

/// Returns the kind of a value for errors.
pub(crate) fn kind(raw: Raw<'_>) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Returns the kind of a value for errors, or `nothing`.
pub(crate) fn kind_of(raw: Option<Raw<'_>>) -> &'static str {
    raw.map_or("nothing", kind)
}

/// Returns the value unless it is absent or null. Clients send either for a missing value.
pub(crate) fn present(raw: Option<Raw<'_>>) -> Option<Raw<'_>> {
    raw.filter(|raw| raw.get() != "null")
}

/// Reads an optional boolean.
pub(crate) fn flag(raw: Option<Raw<'_>>, key: &str) -> Result<bool> {
    match present(raw).map(Raw::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::invalid_field(key, "a boolean", kind_of(raw))),
    }
}
