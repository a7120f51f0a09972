use http::StatusCode;

/// A request that is refused because of its host or its origin, whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The request names no host, several hosts, or one that cannot be parsed.
    InvalidHost,
    /// The request names a host that this server does not answer to.
    HostNotAllowed,
    /// A page of another origin sent the request.
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

    /// Returns the stable code that clients receive.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::InvalidHost => "invalid_host",
            Self::HostNotAllowed => "host_not_allowed",
            Self::OriginNotAllowed => "origin_not_allowed",
        }
    }

    /// Returns the sentence that clients receive.
    pub(crate) fn client_message(self) -> &'static str {
        match self {
            Self::InvalidHost => "The request must name one host, in its Host header.",
            Self::HostNotAllowed => "This server does not answer to the host that the request names.",
            Self::OriginNotAllowed => "Pages of this origin may not use this assistant.",
        }
    }

    /// Returns the log message that tells the application's developers what to change.
    pub(super) fn advice(self) -> Option<&'static str> {
        match self {
            Self::InvalidHost => None,
            Self::HostNotAllowed => Some(
                "refused a request for a host that this server does not answer to (421 host_not_allowed), and will \
                 refuse others: list the hosts of this server with `AssistantBuilder::allowed_hosts`",
            ),
            Self::OriginNotAllowed => Some(
                "refused a request of a page of another origin (403 origin_not_allowed), and will refuse others: if \
                 pages of that origin may use the assistant, list it with `AssistantBuilder::allow_origin`",
            ),
        }
    }
}
