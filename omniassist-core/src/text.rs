use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use bytestring::ByteString;
use serde::{Deserialize, Serialize};

/// Immutable UTF-8 text that shares the buffer it was read from.
///
/// Cloning and slicing increment a reference count instead of copying, so a token can pass from a provider's socket to
/// a client's without a copy. A `String` becomes a `Text` without copying.
///
/// ```
/// use omniassist_core::Text;
///
/// let line = Text::from("hello world".to_owned());
/// let word = line.slice_ref(line.get(6..).unwrap_or_default());
/// assert_eq!(word, "world");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(ByteString);

impl Text {
    /// Returns the empty text. Does not allocate.
    #[must_use]
    pub const fn new() -> Self {
        Self(ByteString::new())
    }

    /// Wraps a static string without copying it.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(ByteString::from_static(text))
    }

    /// Converts bytes into text.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Result<Self, std::str::Utf8Error> {
        match ByteString::try_from(bytes) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(error),
        }
    }

    /// Returns the text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a view of `part` that shares the buffer. `part` must be a slice of this text.
    ///
    /// # Panics
    ///
    /// Panics if `part` is not within this text's memory.
    #[must_use]
    pub fn slice_ref(&self, part: &str) -> Self {
        if part.is_empty() {
            return Self::new();
        }
        Self(self.0.slice_ref(part))
    }

    /// Returns the underlying bytes without copying.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
