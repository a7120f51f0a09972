use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Largest request head that is read, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// A request as a [`FakeProvider`](super::FakeProvider) received it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FakeRequest {
    /// The method, such as `POST`.
    pub method: String,
    /// The path with its query, such as `/v1/responses`.
    pub path: String,
    /// The headers, credentials included.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl FakeRequest {
    /// Returns the body as JSON, or null if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the value of a header if it is present and text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Takes one request from the front of the received bytes. Returns `Ok(None)` while it is incomplete.
    pub(super) fn take(received: &mut BytesMut) -> Result<Option<Self>, &'static str> {
        let Some(head_len) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
            return if received.len() > MAX_HEAD { Err("the request's head is too long") } else { Ok(None) };
        };
        let head = received.get(..head_len).unwrap_or_default();
        let head = std::str::from_utf8(head).map_err(|_| "the request's head is not UTF-8")?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(path)) = (first.next(), first.next()) else {
            return Err("the request line has no path");
        };
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut headers = HeaderMap::new();
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { return Err("a header without a colon") };
            let name = HeaderName::try_from(name).map_err(|_| "a header's name is not allowed")?;
            let value = HeaderValue::try_from(value.trim()).map_err(|_| "a header's value is not allowed")?;
            headers.append(name, value);
        }
        if headers.contains_key("transfer-encoding") {
            return Err("a request with a transfer encoding, which the fake provider does not read");
        }
        let length = headers.get("content-length").and_then(|value| value.to_str().ok());
        let length = length.map_or(Ok(0), str::parse).map_err(|_| "the content length is no number")?;
        let body_at = head_len + 4;
        if received.len() - body_at < length {
            return Ok(None);
        }
        let _ = received.split_to(body_at);
        let body = received.split_to(length).freeze();
        Ok(Some(Self { method, path, headers, body }))
    }
}
