use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::OutboundError;

/// A response of another server, with a body of bounded size.
#[derive(Debug, Clone)]
pub struct OutboundResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    is_cut: bool,
}

impl OutboundResponse {
    /// Reads a body up to this number of bytes, and closes the connection if there are more.
    pub(super) async fn read(mut response: reqwest::Response, most: usize) -> Result<Self, OutboundError> {
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let (mut body, mut is_cut) = (Vec::new(), false);
        while let Some(chunk) = response.chunk().await.map_err(OutboundError::failed)? {
            let room = most - body.len();
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                is_cut = true;
                break;
            }
        }
        Ok(Self { status, headers, body: body.into(), is_cut })
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the body, or its beginning if it [is cut](Self::is_cut).
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns `true` if the server sent more bytes than the policy allows.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}
