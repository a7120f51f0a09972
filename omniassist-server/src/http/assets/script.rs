//! Scripts for web pages, which are the same for every caller.

use std::fmt::Write as _;
#[cfg(feature = "components")]
use std::sync::LazyLock;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use sha2::{Digest as _, Sha256};

use crate::http::AssistantBody;

/// The built-in components, as one module. `npm run build` in `widget/` writes it.
#[cfg(feature = "components")]
static COMPONENTS: LazyLock<Script> =
    LazyLock::new(|| Script::revalidated(include_bytes!("../../../assets/components.js").as_slice()));

/// A script in one content coding.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(in crate::http) bytes: Bytes,
    /// The strong entity tag, with its quotes.
    pub(super) tag: String,
    pub(super) cache: &'static str,
}

impl Script {
    /// Creates a script for which a browser asks at each load. The beginning of its hash is the tag.
    pub(super) fn revalidated(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let mut tag = "\"".to_owned();
        for byte in Sha256::digest(&bytes).iter().take(16) {
            let _ = write!(tag, "{byte:02x}");
        }
        tag.push('"');
        Self { bytes, tag, cache: "no-cache" }
    }

    /// Answers with the script, or with 304 if the browser has it.
    pub(in crate::http) fn answer(self, parts: &Parts) -> Response<AssistantBody> {
        let known = parts.headers.get_all(header::IF_NONE_MATCH).iter();
        let known = known.filter_map(|value| value.to_str().ok()).flat_map(|tags| tags.split(','));
        let is_known =
            known.map(|tag| tag.trim().trim_start_matches("W/")).any(|tag| tag == self.tag || tag == "*");
        let mut response =
            Response::new(AssistantBody::whole(if is_known { Bytes::new() } else { self.bytes }));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        for (name, value) in [
            (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
            (header::CACHE_CONTROL, self.cache),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// Answers `GET /components.js`.
#[cfg(feature = "components")]
pub(in crate::http) fn components(parts: &Parts) -> Response<AssistantBody> {
    COMPONENTS.clone().answer(parts)
}
