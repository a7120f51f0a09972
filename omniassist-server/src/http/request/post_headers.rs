use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use omniassist_core::{Error, Limits};

use crate::WhenBusy;
use crate::engine::AskedWhenBusy;
use crate::store::Post;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const WHEN_BUSY: HeaderName = HeaderName::from_static("x-omniassist-when-busy");
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The name of the preference in `Prefer` and `Preference-Applied` (RFC 7240).
pub(in crate::http) const RESPOND_ASYNC: HeaderValue = HeaderValue::from_static("respond-async");

/// The preference for an answer that does not wait for the run, in the extensions of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct RespondAsync;

/// Reads the headers of a post that only some runs need, and keeps them in the extensions: `Idempotency-Key`,
/// `X-Omniassist-When-Busy` and `Prefer: respond-async`.
///
/// # Errors
///
/// Returns an error if the key is empty or longer than an id may be, or the treatment of a busy chat has another name than
/// those of [`WhenBusy::from_name`].
pub(in crate::http) fn keep(parts: &mut Parts, limits: &Limits) -> Result<(), Error> {
    if let Some(key) = parts.headers.get(IDEMPOTENCY_KEY) {
        let limit = limits.max_id_bytes;
        if key.is_empty() {
            return Err(Error::invalid_field("Idempotency-Key", "a key", "nothing"));
        }
        if key.len() > limit {
            return Err(Error::limit_exceeded("max_id_bytes", limit, "Idempotency-Key".to_owned()));
        }
        parts.extensions.insert(Post::idempotency_key(Bytes::copy_from_slice(key.as_bytes())));
    }
    if let Some(name) = parts.headers.get(WHEN_BUSY) {
        let when_busy = name.to_str().ok().and_then(WhenBusy::from_name).ok_or_else(|| {
            let expected = "`supersede`, `reject`, `enqueue` or `discard`";
            Error::invalid_field("X-Omniassist-When-Busy", expected, "another name")
        })?;
        parts.extensions.insert(AskedWhenBusy(when_busy));
    }
    let preferences = parts.headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut names = preferences.flat_map(|value| value.split(',')).filter_map(|one| one.split(';').next());
    if names.any(|name| name.trim().as_bytes().eq_ignore_ascii_case(RESPOND_ASYNC.as_bytes())) {
        parts.extensions.insert(RespondAsync);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn kept(header: &str, value: &[u8]) -> Result<(Option<Post>, Option<RespondAsync>), Error> {
        let mut limits = Limits::default();
        limits.max_id_bytes = 8;
        let (mut parts, ()) = Request::post("/").header(header, value).body(()).unwrap().into_parts();
        keep(&mut parts, &limits)?;
        Ok((parts.extensions.remove(), parts.extensions.remove()))
    }

    #[test]
    fn a_key_has_at_most_the_length_of_an_id() {
        let (post, _) = kept("Idempotency-Key", b"\"order8\"").unwrap();
        assert_eq!(post, Some(Post::idempotency_key("\"order8\"")));
        assert_eq!(kept("Idempotency-Key", b"123456789").unwrap_err().limit(), Some(("max_id_bytes", 8)));
        assert_eq!(kept("Idempotency-Key", b"").unwrap_err().path(), Some("Idempotency-Key"));
    }

    #[test]
    fn a_preference_is_one_of_a_list() {
        for value in ["respond-async", "wait=10, Respond-Async", "handling=lenient,respond-async; wait=5"] {
            assert_eq!(kept("Prefer", value.as_bytes()).unwrap().1, Some(RespondAsync), "{value}");
        }
        for value in ["", "wait=10", "respond-asynchronously", "x=respond-async"] {
            assert_eq!(kept("Prefer", value.as_bytes()).unwrap().1, None, "{value}");
        }
    }
}
