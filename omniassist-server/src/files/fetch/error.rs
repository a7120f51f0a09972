use std::fmt;

use crate::BoxError;
use crate::outbound::OutboundError;

/// The reason why a file is not downloaded. Its text is safe to show to anyone: it is the same for an address that is not
/// allowed, a server that does not answer, and a host that does not exist.
#[derive(Debug)]
pub(crate) enum FetchError {
    /// The URL itself is not acceptable.
    Url(&'static str),
    Unreachable(BoxError),
    TooLarge(usize),
    Type(String),
    TooMany(usize),
    TooMuch(usize),
}

impl FetchError {
    pub(super) fn unreachable(source: impl Into<BoxError>) -> Self {
        Self::Unreachable(source.into())
    }
}

impl From<OutboundError> for FetchError {
    fn from(error: OutboundError) -> Self {
        match error.url_reason() {
            Some(reason) => Self::Url(reason),
            None => Self::unreachable(error),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(reason) => f.write_str(reason),
            Self::Unreachable(_) => f.write_str("the file could not be downloaded"),
            Self::TooLarge(limit) => write!(f, "the file is larger than {limit} bytes"),
            Self::Type(media_type) => write!(f, "files of the type {media_type} are not accepted"),
            Self::TooMany(limit) => write!(f, "a message may name {limit} files to download"),
            Self::TooMuch(limit) => write!(f, "the files of a message may have {limit} bytes together"),
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(source) => Some(&**source),
            _ => None,
        }
    }
}
