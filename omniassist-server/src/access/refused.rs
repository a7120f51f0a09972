use http::StatusCode;

/// Why a request is not let in, whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It names no host, several, or none that can be read.
    InvalidHost,
    /// It names a host that this server does not answer to.
    HostNotAllowed,
    /// A page of another origin sent it.
    OriginNotAllowed,
}

impl Refused {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::InvalidHost => StatusCode::BAD_REQUEST,
            Self::HostNotAllowed => StatusCode::MISDIRECTED_REQUEST,
            Self::OriginNotAllowed => StatusCode::FORBIDDEN,
        }
    }

    /// The stable code that clients are told.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::InvalidHost => "invalid_host",
            Self::HostNotAllowed => "host_not_allowed",
            Self::OriginNotAllowed => "origin_not_allowed",
        }
    }

    /// The sentence that clients are told.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::InvalidHost => "The request must name one host, in its Host header.",
            Self::HostNotAllowed => "This server does not answer to the host that the request names.",
            Self::OriginNotAllowed => "Pages of this origin may not use this assistant.",
        }
    }

    /// What the host of the library can do about it.
    pub(super) fn advice(self) -> Option<&'static str> {
        match self {
            Self::InvalidHost => None,
            Self::HostNotAllowed => Some(
                "refused a request for a host that this server does not answer to (421 host_not_allowed), and will \
                 refuse others: name the hosts it has with `AssistantBuilder::allowed_hosts`",
            ),
            Self::OriginNotAllowed => Some(
                "refused a request of a page of another origin (403 origin_not_allowed), and will refuse others: where \
                 pages of that origin may use the assistant, list it with `AssistantBuilder::allow_origin`",
            ),
        }
    }
}
