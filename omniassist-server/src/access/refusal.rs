use http::StatusCode;

/// The refusal of a request because of its host or its origin, regardless of its principal.
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
    /// Returns the status, the stable code and the sentence of the answer.
    pub(crate) fn answer(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::InvalidHost => {
                let message = "The request must name one host, in its Host header.";
                (StatusCode::BAD_REQUEST, "invalid_host", message)
            }
            Self::HostNotAllowed => {
                let message = "This server does not answer to the host that the request names.";
                (StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", message)
            }
            Self::OriginNotAllowed => {
                let message = "Pages of this origin may not use this assistant.";
                (StatusCode::FORBIDDEN, "origin_not_allowed", message)
            }
        }
    }

    /// Returns a log message for the application's developers, with the setting to change.
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
