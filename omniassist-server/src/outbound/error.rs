use std::error::Error as StdError;
use std::fmt;

use crate::BoxError;

/// The reason why a request to another server has no response.
///
/// Its text is the same for an address that is not allowed, a server that does not answer, and a host that does not
/// exist. It is safe to show to anyone. [`source`](StdError::source) is for logs.
pub struct OutboundError {
    kind: Kind,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The URL itself is not acceptable.
    Url(&'static str),
    /// The address is not allowed.
    Address,
    /// There is no connection.
    Connect,
    TimedOut,
    /// The connection was lost, or the response is not HTTP.
    Lost,
}

impl OutboundError {
    fn of(kind: Kind, source: Option<BoxError>) -> Self {
        Self { kind, source }
    }

    pub(super) fn url(reason: &'static str) -> Self {
        Self::of(Kind::Url(reason), None)
    }

    pub(super) fn address() -> Self {
        Self::of(Kind::Address, None)
    }

    pub(super) fn look_up(source: std::io::Error) -> Self {
        Self::of(Kind::Connect, Some(source.into()))
    }

    pub(super) fn late(source: impl Into<BoxError>) -> Self {
        Self::of(Kind::TimedOut, Some(source.into()))
    }

    pub(super) fn failed(error: reqwest::Error) -> Self {
        let kind = if is_refusal(&error) {
            Kind::Address
        } else if error.is_connect() || error.is_builder() {
            Kind::Connect
        } else {
            Kind::Lost
        };
        Self::of(kind, Some(error.without_url().into()))
    }

    /// Returns the reason why the URL itself is refused.
    #[cfg(all(feature = "files", feature = "__transport"))]
    pub(crate) fn url_reason(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Url(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns `true` if the [policy](super::OutboundPolicy) refused the URL or the address. No connection was opened.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.kind, Kind::Url(_) | Kind::Address)
    }

    /// Returns `true` if the time was up. The server may have received the request.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind == Kind::TimedOut
    }

    /// Returns `true` if the server has certainly not received the request.
    #[must_use]
    pub fn is_unsent(&self) -> bool {
        matches!(self.kind, Kind::Url(_) | Kind::Address | Kind::Connect)
    }
}

/// Returns `true` if the resolver of the policy refused all addresses.
fn is_refusal(error: &(dyn StdError + 'static)) -> bool {
    error.downcast_ref::<OutboundError>().is_some_and(OutboundError::is_refused)
        || error.source().is_some_and(is_refusal)
}

impl fmt::Display for OutboundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Url(reason) => reason,
            Kind::Address | Kind::Connect | Kind::Lost => "the server could not be reached",
            Kind::TimedOut => "the server did not answer in time",
        })
    }
}

impl fmt::Debug for OutboundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundError").field("kind", &self.kind).field("source", &self.source).finish()
    }
}

impl StdError for OutboundError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
