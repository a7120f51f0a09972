use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};

/// The beginning of the subprotocol that carries a token: browsers cannot send an `Authorization` with a WebSocket.
const BEARER: &str = "omniassist.bearer.";

/// The subprotocol with numbered frames and further fields.
const EXTENDED: &str = "omniassist.agents.v1";

/// The subprotocol with the same frames as without one. A browser closes a connection whose answer names none of the
/// subprotocols that it offers, and a token is not named.
const PLAIN: &str = "omniassist.agents";

/// Returns the subprotocols that a client offers.
fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// Turns the token of a subprotocol into the header that the authentication of the host reads. A header that is there counts.
/// The headers with the token are marked, so that they are in no log.
pub(in crate::http) fn take_bearer(parts: &mut Parts) {
    let token = offered(&parts.headers).find_map(|protocol| protocol.strip_prefix(BEARER));
    let Some(token) = token.map(str::to_owned) else { return };
    let headers = parts.headers.iter_mut();
    for (_, value) in headers.filter(|(name, _)| **name == header::SEC_WEBSOCKET_PROTOCOL) {
        value.set_sensitive(true);
    }
    if parts.headers.contains_key(header::AUTHORIZATION) {
        return;
    }
    let Ok(token) = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')) else { return };
    if let Ok(mut value) = HeaderValue::from_bytes(&[b"Bearer ", token.as_slice()].concat()) {
        value.set_sensitive(true);
        parts.headers.insert(header::AUTHORIZATION, value);
    }
}

/// Returns the subprotocol of the connection, and `true` if it is the extended one.
pub(super) fn choose(headers: &HeaderMap) -> (Option<HeaderValue>, bool) {
    let offers = |wanted: &str| offered(headers).any(|protocol| protocol == wanted);
    if offers(EXTENDED) {
        return (Some(HeaderValue::from_static(EXTENDED)), true);
    }
    (offers(PLAIN).then(|| HeaderValue::from_static(PLAIN)), false)
}
