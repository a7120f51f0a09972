//! The HTTP transport.
//!
//! It differs from the client of the protocol crate where that one waits for ever. An error without an id becomes the answer to
//! the request that was posted. A refused session becomes an error, which tells that the request did not run.

mod event_limit;
mod guard;
mod names;
mod response;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use omniassist_server::outbound::OutboundPolicy;
use reqwest::{Certificate, Client, RequestBuilder, Response, Url, redirect};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use secrecy::{ExposeSecret, SecretString};
use sse_stream::Sse;

use super::McpError;
use super::auth::Credentials;
use super::loopback::is_loopback;
use super::oauth::User;
use guard::Guard;
use names::{ACCEPTED, EVENT_STREAM, LAST_EVENT_ID, SESSION_ID};
pub(super) use response::HttpError;
use response::{Answer, answer, challenge, client, events, is, refusal, refusal_error};

type Headers = HashMap<HeaderName, HeaderValue>;

/// A client for the connections to one server.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: Client,
    /// The user of the OAuth token that is sent.
    user: Option<(Arc<User>, Option<SecretString>)>,
}

impl HttpClient {
    /// Creates a client for the server at a URL that sends these credentials. It follows no redirect.
    ///
    /// # Errors
    ///
    /// Returns an error if the policy refuses the URL, or the credentials are not a header.
    pub(super) fn new(
        url: &str,
        credentials: Option<&Credentials>,
        outbound: Option<&OutboundPolicy>,
        connect: Duration,
    ) -> Result<Self, McpError> {
        let mut headers = HeaderMap::new();
        if let Some((header, value)) = credentials.and_then(|credentials| credentials.header.as_ref()) {
            let name = HeaderName::try_from(&**header).map_err(McpError::unreachable)?;
            let mut value = HeaderValue::try_from(value.expose_secret()).map_err(McpError::unreachable)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let mut client = Client::builder()
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .connect_timeout(connect);
        if Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(is_loopback)) {
            // A proxy of the system is another machine, and must not read the credentials.
            client = client.no_proxy();
        }
        if let Some(policy) = outbound {
            policy.check(url).map_err(McpError::unreachable)?;
            // A proxy would look up the host itself.
            client = client.no_proxy().dns_resolver(Guard(policy.clone()));
            for pem in policy.root_certificates() {
                let roots = Certificate::from_pem_bundle(pem).map_err(McpError::unreachable)?;
                if roots.is_empty() {
                    return Err(McpError::unreachable("a root certificate of the policy is not in PEM form"));
                }
                client = client.tls_certs_merge(roots);
            }
        }
        let user = credentials.and_then(|credentials| credentials.user.clone());
        Ok(Self { client: client.build().map_err(McpError::unreachable)?, user })
    }

    /// Returns the error of a response that refuses the credentials.
    fn refused(&self, response: &Response) -> HttpError {
        let challenge = challenge(response);
        let refusal = self.user.as_ref().and_then(|(user, token)| {
            user.refused(response.status(), challenge, token.as_ref().map(ExposeSecret::expose_secret))
        });
        refusal_error(challenge, refusal)
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
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.refused(&response)),
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
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.refused(&response)),
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
