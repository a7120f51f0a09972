use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use http::{HeaderValue, StatusCode};

use crate::BoxError;

/// An error that an [`Authenticate`](super::Authenticate) hook refuses a request with.
///
/// The client receives a stable code and a fixed sentence. The [source](Self::with_source) is logged with `tracing`.
pub struct AuthError {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    challenge: HeaderValue,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unauthenticated,
    Forbidden,
    Unavailable,
    Internal,
}

impl AuthError {
    fn new(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, challenge: HeaderValue::from_static("Bearer"), source: None }) }
    }

    /// Creates an error for missing, wrong or expired credentials. It is answered 401 `unauthenticated`, with
    /// `WWW-Authenticate`.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(Kind::Unauthenticated)
    }

    /// Creates an error for a known sender without permission. It is answered 403 `forbidden`.
    #[must_use]
    pub fn forbidden() -> Self {
        Self::new(Kind::Forbidden)
    }

    /// Creates an error for credentials that cannot be checked right now. It is answered 503
    /// `authentication_unavailable`; clients may try again.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(Kind::Unavailable)
    }

    /// Creates the error of a hook that panicked.
    pub(crate) fn internal() -> Self {
        Self::new(Kind::Internal)
    }

    /// Sets the `WWW-Authenticate` header of a 401. Default: `Bearer`. `Basic` makes browsers ask for a password.
    #[must_use]
    pub fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.inner.challenge = challenge;
        self
    }

    /// Adds the error that caused this one. Default: none.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Returns `true` if the credentials are missing or not valid.
    #[must_use]
    pub fn is_unauthenticated(&self) -> bool {
        self.inner.kind == Kind::Unauthenticated
    }

    /// Returns `true` if the sender is known and lacks permission.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.inner.kind == Kind::Forbidden
    }

    /// Returns `true` if the credentials could not be checked.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.inner.kind == Kind::Unavailable
    }

    pub(crate) fn challenge(&self) -> Option<&HeaderValue> {
        self.is_unauthenticated().then_some(&self.inner.challenge)
    }

    /// Returns the status, the stable code and the sentence of the answer.
    pub(crate) fn answer(&self) -> (StatusCode, &'static str, Cow<'static, str>) {
        let (status, code, message) = match self.inner.kind {
            Kind::Unauthenticated => {
                let message = "The request is not authenticated. Sign in and try again.";
                (StatusCode::UNAUTHORIZED, "unauthenticated", message)
            }
            Kind::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "You may not use this assistant."),
            Kind::Unavailable => {
                let message = "Authentication is not available right now. Try again later.";
                (StatusCode::SERVICE_UNAVAILABLE, "authentication_unavailable", message)
            }
            Kind::Internal => {
                let message = omniassist_core::Error::internal().to_string().into();
                let code = omniassist_core::ErrorCode::Internal.as_str();
                return (StatusCode::INTERNAL_SERVER_ERROR, code, message);
            }
        };
        (status, code, message.into())
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner.kind {
            Kind::Unauthenticated => "the request is not authenticated",
            Kind::Forbidden => "the sender of the request may not use the assistant",
            Kind::Unavailable => "authentication is not available right now",
            Kind::Internal => "the authentication hook panicked",
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
