use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqwest::Url;

use crate::Error;

/// One request to a provider. Cheap to clone, so that it can be repeated.
#[derive(Clone)]
pub(crate) struct ProviderRequest {
    /// POST, or GET for the rest of an answer.
    pub(crate) method: Method,
    /// Absolute URL. Never holds a credential.
    pub(crate) url: Url,
    /// Headers, the credential's among them (marked sensitive).
    pub(crate) headers: Arc<HeaderMap>,
    /// The body.
    pub(crate) body: Bytes,
    /// `true` if the decoder reads one JSON document, and not a stream of events.
    pub(crate) answers_json: bool,
}

impl fmt::Debug for ProviderRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderRequest").field("body", &self.body.len()).finish_non_exhaustive()
    }
}

/// Turns a non-2xx answer (status, body) into an error. The transport adds the status, `retry-after` and the request
/// id, and the start of the body if the error has no detail.
pub(crate) type ReadError = fn(u16, &[u8]) -> Error;
