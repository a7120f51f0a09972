use std::error::Error as StdError;
use std::fmt;

use http::{HeaderValue, StatusCode};

/// Why an [`Authenticate`](super::Authenticate) lets a request go no further.
///
/// The client is told a stable code and a fixed sentence. The [source](Self::with_source) goes to `tracing`.
pub struct AuthError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    challenge: HeaderValue,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unauthenticated,
    Forbidden,
    Unavailable,
}

impl AuthError {
    fn new(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, challenge: HeaderValue::from_static("Bearer"), source: None }) }
    }

    /// The request does not prove who sent it: no credentials, wrong ones, or expired ones. Answered 401
    /// `unauthenticated`, with `WWW-Authenticate`.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(Kind::Unauthenticated)
    }

    /// It is known who sent it, and they may not use the assistant. Answered 403 `forbidden`.
    #[must_use]
    pub fn forbidden() -> Self {
        Self::new(Kind::Forbidden)
    }

    /// Who sent it cannot be found out right now. Answered 503 `authentication_unavailable`; clients may try again.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(Kind::Unavailable)
    }

    /// What `WWW-Authenticate` says beside a 401. Default: `Bearer`. A browser asks the user for a password where it
    /// says `Basic`.
    #[must_use]
    pub fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.inner.challenge = challenge;
        self
    }

    /// Adds the error that caused this one. Default: none.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Whether nobody proved who they are.
    #[must_use]
    pub fn is_unauthenticated(&self) -> bool {
        self.inner.kind == Kind::Unauthenticated
    }

    /// Whether somebody known may not do this.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.inner.kind == Kind::Forbidden
    }

    /// Whether it could not be found out.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.inner.kind == Kind::Unavailable
    }

    pub(crate) fn challenge(&self) -> Option<&HeaderValue> {
        self.is_unauthenticated().then_some(&self.inner.challenge)
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.inner.kind {
            Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The stable code that clients are told.
    pub(crate) fn code(&self) -> &'static str {
        match self.inner.kind {
            Kind::Unauthenticated => "unauthenticated",
            Kind::Forbidden => "forbidden",
            Kind::Unavailable => "authentication_unavailable",
        }
    }

    /// The sentence that clients are told.
    pub(crate) fn message(&self) -> &'static str {
        match self.inner.kind {
            Kind::Unauthenticated => "The request does not prove who it is from. Sign in and try again.",
            Kind::Forbidden => "You may not use this assistant.",
            Kind::Unavailable => "Who the request is from cannot be checked right now. Try again later.",
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner.kind {
            Kind::Unauthenticated => "the request does not prove who it is from",
            Kind::Forbidden => "the sender of the request may not use the assistant",
            Kind::Unavailable => "the sender of the request cannot be checked right now",
        })
    }
}

impl fmt::Debug for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthError")
            .field("kind", &self.inner.kind)
            .field("source", &self.inner.source)
            .finish_non_exhaustive()
    }
}

impl StdError for AuthError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
