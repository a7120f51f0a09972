//! The HTTP transport.
//!
//! It differs from the client of the protocol crate where that one waits for ever. An error without an id becomes the answer to
//! the request that was posted. A refused session becomes an error, which tells that the request did not run.

mod event_limit;
mod names;
mod response;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, redirect};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use secrecy::ExposeSecret;
use sse_stream::Sse;

use super::McpError;
use super::auth::Credentials;
use names::{ACCEPTED, EVENT_STREAM, LAST_EVENT_ID, SESSION_ID};
pub(super) use response::HttpError;
use response::{Answer, answer, client, events, is, refusal, unauthorised};

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
            get = get.header(LAST_EVENT_ID, last_event);
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

fn with_headers(mut request: RequestBuilder, session: Option<&str>, headers: Headers) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION_ID, session),
        None => request,
    }
}
