use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use omniassist_server::BoxError;

/// An error of a document, or of the settings of its tools.
///
/// It is opaque; use its predicates. All errors occur before a server is called.
pub struct OpenApiError {
    inner: Box<Inner>,
}

struct Inner {
    /// The JSON pointer of the place in the document.
    pointer: Option<String>,
    reason: Cow<'static, str>,
    source: Option<BoxError>,
}

impl OpenApiError {
    fn of(pointer: Option<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { inner: Box::new(Inner { pointer, reason: reason.into(), source: None }) }
    }

    pub(crate) fn document(pointer: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Some(pointer.into()), reason)
    }

    pub(crate) fn configuration(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(None, reason)
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Returns `true` if the document is at fault; see [`pointer`](Self::pointer).
    #[must_use]
    pub fn is_document(&self) -> bool {
        self.inner.pointer.is_some()
    }

    /// Returns `true` if a setting is at fault, such as a server URL that is missing.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        self.inner.pointer.is_none()
    }

    /// Returns the JSON pointer of the place in the document. That of the whole document is empty.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        self.inner.pointer.as_deref()
    }
}

impl fmt::Display for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inner.pointer.as_deref() {
            None => {}
            Some("") => f.write_str("the document: ")?,
            Some(pointer) => write!(f, "the document, at {pointer:?}: ")?,
        }
        f.write_str(&self.inner.reason)
    }
}

impl fmt::Debug for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiError")
            .field("pointer", &self.inner.pointer)
            .field("reason", &self.inner.reason)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl StdError for OpenApiError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
