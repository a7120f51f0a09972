//! Answers to bodies that are no messages of the protocol, in its form.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use omniassist_server::endpoint::McpBody;
use serde_json::json;

/// The header that says which version a request has.
const VERSION: &str = "mcp-protocol-version";

/// Returns the answer to headers that two readers can understand differently.
pub(super) fn ambiguous(headers: &HeaderMap) -> Option<Response<McpBody>> {
    let is_repeated = headers.get_all(VERSION).iter().nth(1).is_some();
    is_repeated
        .then(|| refusal(StatusCode::BAD_REQUEST, "The header `mcp-protocol-version` must be sent once."))
}

/// Returns an answer as it is, or an error of the protocol in the place of one that has only a text.
pub(super) fn in_form(response: Response<McpBody>) -> Response<McpBody> {
    let is_text =
        response.headers().get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    match response.status() {
        // The media type was checked before.
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_text => {
            refusal(StatusCode::BAD_REQUEST, "The body is not one message of the protocol.")
        }
        status @ StatusCode::NOT_ACCEPTABLE if is_text => {
            refusal(status, "The client must accept both application/json and text/event-stream.")
        }
        status if is_text && (status.is_client_error() || status.is_server_error()) => {
            refusal(status, "The request cannot be served.")
        }
        _ => response,
    }
}

fn refusal(status: StatusCode, text: &str) -> Response<McpBody> {
    let error = json!({ "code": -32600, "message": text });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    let body: McpBody = Box::pin(Full::new(Bytes::from(body)));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
