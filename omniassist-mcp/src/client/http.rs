//! The HTTP transport.
//!
//! It differs from the client of the protocol crate where that one waits for ever. An error without an id becomes the answer to
//! the request that was posted. A refused session becomes an error, which tells that the request did not run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, Response, redirect};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use secrecy::ExposeSecret;
use sse_stream::{Sse, SseStream};

use super::McpError;
use super::auth::Credentials;
use super::event_limit::EventLimit;

const SESSION_ID: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const ACCEPTED: &str = "text/event-stream, application/json";

/// The bytes of a message. One page of tools can be as large as the whole list.
const MAX_MESSAGE: usize = 8 * 1024 * 1024;

/// The bytes that are read of an error.
const MAX_ERROR: usize = 64 * 1024;

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;
type Answer = Result<StreamableHttpPostResponse, HttpError>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client for the connections to one server.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: Client,
}

impl HttpClient {
    /// Creates a client that sends these credentials. It follows no redirect.
    pub(super) fn new(credentials: Option<&Credentials>, connect: Duration) -> Result<Self, McpError> {
        let mut headers = HeaderMap::new();
        if let Some(Credentials { header, value }) = credentials {
            let name = HeaderName::try_from(&**header).map_err(McpError::unreachable)?;
            let mut value = HeaderValue::try_from(value.expose_secret()).map_err(McpError::unreachable)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .connect_timeout(connect)
            .build();
        Ok(Self { client: client.map_err(McpError::unreachable)? })
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Answer {
        let post = self.client.post(&*uri).header(ACCEPT, ACCEPTED);
        let post = with_headers(post, session.as_deref(), headers).json(&message);
        let response = post.send().await.map_err(client)?;
        let status = response.status();
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
            _ if status.is_success() => answer(response, &message).await,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorised(&response)),
            _ => refusal(response, &message, session.is_some()).await,
        }
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        _: StreamableHttpResponseLimits,
    ) -> Answer {
        self.post_message(uri, message, session, token, headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let delete = with_headers(self.client.delete(&*uri), Some(&session), headers);
        delete.send().await.map(drop).map_err(client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let mut get = with_headers(self.client.get(&*uri), session.as_deref(), headers);
        if let Some(last_event) = last_event {
            get = get.header("last-event-id", last_event);
        }
        let response = get.header(ACCEPT, EVENT_STREAM).send().await.map_err(client)?;
        match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorised(&response)),
            status if status.is_success() && is(&response, EVENT_STREAM) => Ok(events(response)),
            // Without a stream of its own, the server can only answer requests.
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

/// Keeps an error without its URL, which can contain a secret.
fn client(error: reqwest::Error) -> HttpError {
    StreamableHttpError::Client(error.without_url())
}

fn with_headers(mut request: RequestBuilder, session: Option<&str>, headers: Headers) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION_ID, session),
        None => request,
    }
}

/// Reads a successful response.
async fn answer(response: Response, message: &ClientJsonRpcMessage) -> Answer {
    let session = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if !matches!(message, ClientJsonRpcMessage::Request(_)) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is(&response, EVENT_STREAM) {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    if !is(&response, JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(None));
    }
    let body = read(response, MAX_MESSAGE).await?;
    let answer = serde_json::from_slice(&body)?;
    Ok(StreamableHttpPostResponse::Json(for_request(answer, message), session))
}

/// Reads a refusal. One of a session, or of a request that the server did not read, proves that the request did not run.
async fn refusal(response: Response, message: &ClientJsonRpcMessage, has_session: bool) -> Answer {
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
    let is_refused = matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND);
    match error {
        _ if is_refused && has_session && !is_answer => Err(StreamableHttpError::SessionExpired),
        Some(error) => {
            let error = ServerJsonRpcMessage::Error(error);
            Ok(StreamableHttpPostResponse::Json(for_request(error, message), None))
        }
        // A server of an earlier version of the protocol, which does not know the request.
        None if status.is_client_error() && matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            let error = ErrorData::invalid_request(format!("HTTP {status}"), None);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        None => failed(),
    }
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

fn unauthorised(response: &Response) -> HttpError {
    let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge.unwrap_or_default().to_owned()))
}

fn is(response: &Response, expected: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut limit = EventLimit::new(MAX_MESSAGE);
    let bytes = response.bytes_stream().map(move |bytes| limit.check(bytes));
    SseStream::from_bytes_stream(bytes).boxed()
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
