use std::fmt;

/// The server of the assistant, and the protocol of its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `axum::serve`, over HTTP/1.
    Axum,
    /// Actix's server over HTTP/1, with the settings in the adapter's documentation.
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

    /// Returns `true` if a disconnect is noticed while nothing is written. Actix notices a reset stream of HTTP/2 only
    /// by a write, as the documentation of `omniassist_actix` describes: by a keep-alive comment, or by the model's
    /// next output in formats without comments.
    pub(crate) fn notices_in_silence(self) -> bool {
        self != Self::ActixHttp2
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
