use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::host::USER;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Bytes>,
    /// The announced `content-length`; without one, the body is chunked.
    pub(super) announced: Option<usize>,
    pub(super) pause: Duration,
    pub(super) ends: bool,
    pub(super) is_absolute: bool,
    pub(super) host: Option<String>,
}

impl Ask {
    /// A request without a body.
    pub(crate) fn new(method: &str, path: impl Into<String>) -> Self {
        Self {
            method: method.to_owned(),
            path: path.into(),
            headers: Vec::new(),
            pieces: Vec::new(),
            announced: None,
            pause: Duration::ZERO,
            ends: true,
            is_absolute: false,
            host: None,
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    /// Posts a body with the content type of JSON.
    pub(crate) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new("POST", path).header("content-type", "application/json").body(body)
    }

    pub(crate) fn json(path: impl Into<String>, body: &Value) -> Self {
        Self::post(path, body.to_string())
    }

    /// Sets a header. It replaces an earlier one of this name.
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    /// Sends the request as this user of the backend.
    pub(crate) fn user(self, name: &str) -> Self {
        self.header(USER, name)
    }

    /// Sends a body whose length is announced.
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.announced = Some(body.len());
        self.pieces = vec![body];
        self
    }

    /// Pads the body with blanks to `bytes` bytes.
    pub(crate) fn padded(self, bytes: usize) -> Self {
        let mut whole = self.pieces.concat();
        whole.resize(bytes, b' ');
        self.body(whole)
    }

    /// Sends the body in pieces of `bytes` bytes. Its length is still announced.
    pub(crate) fn pieces(mut self, bytes: usize) -> Self {
        let whole = self.pieces.concat();
        self.pieces = whole.chunks(bytes).map(Bytes::copy_from_slice).collect();
        self
    }

    /// Announces no length.
    pub(crate) fn unannounced(mut self) -> Self {
        self.announced = None;
        self
    }

    /// Waits between the pieces of the body.
    pub(crate) fn paced(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Announces more than it sends, and does not end the body.
    pub(crate) fn unfinished(mut self) -> Self {
        self.announced = self.announced.map(|bytes| bytes + 1);
        self.ends = false;
        self
    }

    /// Sends the whole URI and not only the path. HTTP/2 always does.
    pub(crate) fn absolute(mut self) -> Self {
        self.is_absolute = true;
        self
    }

    /// Sends another host name than the server's.
    pub(crate) fn host(mut self, name: &str) -> Self {
        self.host = Some(name.to_owned());
        self
    }

    /// Returns `true` if the answer is not streamed.
    pub(crate) fn is_for_whole_answer(&self) -> bool {
        let body = self.pieces.concat();
        String::from_utf8_lossy(&body).contains("\"stream\":false")
    }

    pub(super) fn has_body(&self) -> bool {
        !self.pieces.is_empty()
    }
}
