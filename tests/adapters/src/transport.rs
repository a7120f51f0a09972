use std::fmt;

/// What serves the assistant, and how its clients speak to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `axum::serve`, over HTTP/1.
    Axum,
    /// Actix's server as the adapter's documentation says to set it, over HTTP/1.
    Actix,
    /// Hyper's own connections, over HTTP/1.
    HyperHttp1,
    /// Hyper's own connections, over HTTP/2.
    HyperHttp2,
}

impl Transport {
    pub(crate) const ALL: [Self; 4] = [Self::Axum, Self::Actix, Self::HyperHttp1, Self::HyperHttp2];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::Actix => "actix",
            Self::HyperHttp1 => "hyper-http1",
            Self::HyperHttp2 => "hyper-http2",
        }
    }

    pub(crate) fn is_http2(self) -> bool {
        self == Self::HyperHttp2
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
