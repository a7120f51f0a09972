use std::fmt;

/// The server of the assistant, and the protocol of its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `axum::serve`, over HTTP/1.
    Axum,
    /// Actix's server as the adapter's documentation says to set it, over HTTP/1.
    ActixHttp1,
    /// The same server over HTTP/2 without TLS.
    ActixHttp2,
    /// Hyper's own connections, over HTTP/1.
    HyperHttp1,
    /// Hyper's own connections, over HTTP/2.
    HyperHttp2,
}

impl Transport {
    pub(crate) const ALL: [Self; 5] =
        [Self::Axum, Self::ActixHttp1, Self::ActixHttp2, Self::HyperHttp1, Self::HyperHttp2];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::ActixHttp1 => "actix-http1",
            Self::ActixHttp2 => "actix-http2",
            Self::HyperHttp1 => "hyper-http1",
            Self::HyperHttp2 => "hyper-http2",
        }
    }

    pub(crate) fn is_http2(self) -> bool {
        matches!(self, Self::ActixHttp2 | Self::HyperHttp2)
    }

    /// `true` if a disconnect is noticed while nothing is written. Actix looks at a stream of HTTP/2 only
    /// when it has something to write to it, and `omniassist_actix` says so: there it takes a comment, and where a
    /// format has none, something that the model says.
    pub(crate) fn notices_in_silence(self) -> bool {
        self != Self::ActixHttp2
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
