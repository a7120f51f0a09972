//! Answers to bodies that are no messages of the protocol, in its form.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use omniassist_server::endpoint::McpBody;
use rmcp::ErrorData;
use rmcp::model::{ProtocolVersion, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};

/// The header that says which version a request has.
const VERSION: &str = "mcp-protocol-version";

/// A body with the id of a message.
#[derive(Deserialize)]
struct Sent {
    id: RequestId,
}

/// Returns the answer to headers that two readers can understand differently.
pub(super) fn ambiguous(request: &Request<Bytes>) -> Option<Response<McpBody>> {
    let is_repeated = request.headers().get_all(VERSION).iter().nth(1).is_some();
    let text = "The header `mcp-protocol-version` must be sent once.";
    let error = || ErrorData::invalid_request(text, None);
    is_repeated.then(|| refusal(StatusCode::BAD_REQUEST, request.body(), &error()))
}

/// Returns the reason for which a request with these headers cannot be served.
pub(super) fn reason(headers: &HeaderMap) -> &'static str {
    let is_known = |version| ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| version == known.as_str());
    match headers.get(VERSION).is_none_or(is_known) {
        true => "The request cannot be served.",
        false => "The header `mcp-protocol-version` has a version that the server does not know.",
    }
}

/// Returns an answer as it is, or an error of the protocol in the place of one that has only a text. `body` is that of the
/// request, and `reason` that of a refusal without another one.
pub(super) fn in_form(response: Response<McpBody>, body: &[u8], reason: &'static str) -> Response<McpBody> {
    let is_text =
        response.headers().get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let status = response.status();
    if !is_text || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    match status {
        // The media type was checked before.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => refusal(StatusCode::BAD_REQUEST, body, &no_message()),
        StatusCode::NOT_ACCEPTABLE => {
            let text = "The client must accept both application/json and text/event-stream.";
            refusal(status, body, &ErrorData::invalid_request(text, None))
        }
        _ => refusal(status, body, &ErrorData::invalid_request(reason, None)),
    }
}

/// Returns the error of a body that is JSON, and no message.
pub(super) fn no_message() -> ErrorData {
    ErrorData::invalid_request("The body is not one message of the protocol.", None)
}

/// Returns an error as the answer to a body: with its id, if it has one that can be read.
pub(super) fn answer(body: &[u8], error: &ErrorData) -> Value {
    let id = serde_json::from_slice::<Sent>(body).ok().map(|sent| sent.id);
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn refusal(status: StatusCode, body: &[u8], error: &ErrorData) -> Response<McpBody> {
    let body: McpBody = Box::pin(Full::new(Bytes::from(answer(body, error).to_string())));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
