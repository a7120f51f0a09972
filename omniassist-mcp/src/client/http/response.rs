use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::Response;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcError, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::event_limit::EventLimit;
use super::names::{EVENT_STREAM, JSON, SESSION_ID};
use crate::client::oauth::Refusal;
use crate::client::tasks;

/// The bytes of a message. One page of tools can be as large as the whole list.
const MAX_MESSAGE: usize = 8 * 1024 * 1024;

/// The bytes that are read of an error.
const MAX_ERROR: usize = 64 * 1024;

/// The code of a session that the TypeScript SDK refuses, which it uses for other errors too.
const REFUSED_SESSION: ErrorCode = ErrorCode(-32000);

pub(in crate::client) type HttpError = StreamableHttpError<reqwest::Error>;
pub(super) type Answer = Result<StreamableHttpPostResponse, HttpError>;

/// Keeps an error without its URL, which can contain a secret.
pub(super) fn client(error: reqwest::Error) -> HttpError {
    StreamableHttpError::Client(error.without_url())
}

/// Reads a successful response.
pub(super) async fn answer(response: Response, message: &ClientJsonRpcMessage) -> Answer {
    let session = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if !matches!(message, ClientJsonRpcMessage::Request(_)) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is(&response, EVENT_STREAM) {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    if !is(&response, JSON) {
        return Err(HttpStatusError::new(response.status().as_u16(), None).into());
    }
    let body = read(response, MAX_MESSAGE).await?;
    let body = tasks::marked(&body).map_or(body, String::into_bytes);
    let answer = match serde_json::from_slice(&body)? {
        // A server of an earlier version, which answers each request that it does not know with nothing.
        ServerJsonRpcMessage::Response(answer)
            if is_discovery(message) && !matches!(answer.result, ServerResult::DiscoverResult(_)) =>
        {
            ServerJsonRpcMessage::error(ErrorData::invalid_request("not a discovery", None), Some(answer.id))
        }
        answer => answer,
    };
    Ok(StreamableHttpPostResponse::Json(for_request(answer, message), session))
}

/// Reads a refusal. One of the session is an error, which tells that the request did not run.
pub(super) async fn refusal(response: Response, message: &ClientJsonRpcMessage, has_session: bool) -> Answer {
    let status = response.status();
    let retry_after =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let failed = || Err(HttpStatusError::new(status.as_u16(), retry_after.clone()).into());
    let ClientJsonRpcMessage::Request(request) = message else { return failed() };
    let body = read(response, MAX_ERROR).await.unwrap_or_default();
    let error = match serde_json::from_slice(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    let is_answer = error.as_ref().is_some_and(|error| error.id.as_ref() == Some(&request.id));
    let names_session = || match status {
        StatusCode::NOT_FOUND => true,
        StatusCode::BAD_REQUEST => error.as_ref().is_some_and(is_of_session),
        _ => false,
    };
    match error {
        _ if has_session && !is_answer && names_session() => Err(StreamableHttpError::SessionExpired),
        Some(error) => {
            let error = ServerJsonRpcMessage::Error(error);
            Ok(StreamableHttpPostResponse::Json(for_request(error, message), None))
        }
        // A server of an earlier version of the protocol, which does not know the request.
        None if status.is_client_error() && is_discovery(message) => {
            let error = ErrorData::invalid_request(format!("HTTP {status}"), None);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        None => failed(),
    }
}

/// Returns `true` for the error with which the TypeScript SDK, and its examples, refuse a session with status 400.
fn is_of_session(error: &JsonRpcError) -> bool {
    let text = error.error.message.to_ascii_lowercase();
    let names_session = text.contains("session") || text.contains("not initialized");
    error.id.is_none() && error.error.code == REFUSED_SESSION && names_session
}

fn is_discovery(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)))
}

/// Gives an error without an id the id of the request that was posted: nothing else can be meant.
fn for_request(answer: ServerJsonRpcMessage, message: &ClientJsonRpcMessage) -> ServerJsonRpcMessage {
    match (answer, message) {
        (ServerJsonRpcMessage::Error(error), ClientJsonRpcMessage::Request(request)) => {
            ServerJsonRpcMessage::error(error.error, Some(request.id.clone()))
        }
        (answer, _) => answer,
    }
}

/// Returns the header that names the credentials which a server needs: that of bearer tokens, if there are several.
pub(super) fn challenge(response: &Response) -> &str {
    let headers = response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let is_bearer =
        |header: &str| header.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    headers.min_by_key(|header| !is_bearer(header)).unwrap_or_default()
}

/// Returns the error of a request whose credentials were refused. The server did not run the request.
pub(super) fn refusal_error(challenge: &str, refusal: Option<Refusal>) -> HttpError {
    let challenge = challenge.to_owned();
    match refusal {
        Some(Refusal::MissingScope | Refusal::Forbidden) => {
            let can_authorize = refusal == Some(Refusal::MissingScope);
            let scope = can_authorize.then(String::new);
            StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, scope))
        }
        Some(Refusal::Token) | None => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)),
    }
}

pub(super) fn is(response: &Response, expected: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

pub(super) fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut limit = EventLimit::new(MAX_MESSAGE);
    let bytes = response.bytes_stream().map(move |bytes| limit.check(bytes));
    let events = SseStream::from_bytes_stream(bytes).map_ok(|mut event| {
        let marked = event.data.as_ref().and_then(|data| tasks::marked(data.as_bytes()));
        event.data = marked.or(event.data);
        event
    });
    events.boxed()
}

async fn read(response: Response, max: usize) -> Result<Vec<u8>, HttpError> {
    let mut bytes = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = bytes.try_next().await.map_err(client)? {
        if body.len() + chunk.len() > max {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: max });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
