//! A hostile server over HTTP.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::oauth::Accounts;
use super::protocol::{Protocol, Reaction};

/// The answer to a session that is not known.
#[derive(Clone, Copy)]
pub(crate) enum Lost {
    /// The one of the TypeScript SDK's example.
    BadRequestWithoutId,
    /// One without a message of the protocol.
    BadRequest,
    NotFound,
}

#[derive(Clone)]
pub(crate) struct HttpServer {
    pub(crate) protocol: Protocol,
    pub(crate) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    lost: Lost,
    sessions: Mutex<HashSet<String>>,
    /// The `authorization` of each call, with the tool.
    authorizations: Mutex<Vec<(String, String)>>,
    connections: Mutex<JoinSet<()>>,
    /// The accounts of the users, if they need any.
    accounts: Mutex<Option<Accounts>>,
    /// Credentials that the next call is refused with.
    revoked: Mutex<String>,
    /// Credentials that every request is refused with.
    unknown: Mutex<String>,
}

impl HttpServer {
    pub(crate) async fn start(protocol: Protocol, lost: Lost) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            lost,
            sessions: Mutex::default(),
            authorizations: Mutex::default(),
            connections: Mutex::default(),
            accounts: Mutex::default(),
            revoked: Mutex::default(),
            unknown: Mutex::default(),
        });
        let this = Self { protocol, url, shared };
        let server = this.clone();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                stream.set_nodelay(true).unwrap();
                let (server, shared) = (server.clone(), Arc::clone(&server.shared));
                let service = service_fn(move |request| {
                    let server = server.clone();
                    async move { server.handle(request).await }
                });
                let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                let mut connections = shared.connections.lock().unwrap();
                while connections.try_join_next().is_some() {}
                connections.spawn(async move {
                    let _ = connection.await;
                });
            }
        });
        this
    }

    /// Lets users in who have tokens of an authorization server.
    pub(crate) fn require(&self, accounts: &Accounts) {
        accounts.protect(&self.url);
        *self.shared.accounts.lock().unwrap() = Some(accounts.clone());
    }

    /// Forgets the sessions, and closes all connections. The client has noticed it when this returns.
    pub(crate) async fn restart(&self) {
        self.end();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    fn end(&self) {
        self.shared.sessions.lock().unwrap().clear();
        self.shared.connections.lock().unwrap().abort_all();
    }

    /// Refuses the next call with these credentials.
    pub(crate) fn revoke(&self, authorization: &str) {
        *self.shared.revoked.lock().unwrap() = authorization.to_owned();
    }

    /// Refuses every request with these credentials.
    pub(crate) fn forget(&self, authorization: &str) {
        *self.shared.unknown.lock().unwrap() = authorization.to_owned();
    }

    /// Returns the `authorization` of each call, with the tool.
    pub(crate) fn authorizations(&self) -> Vec<(String, String)> {
        self.shared.authorizations.lock().unwrap().clone()
    }

    async fn handle(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let header = |name: &str| {
            request.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (session, authorization) = (header("mcp-session-id"), header("authorization"));
        let accounts = self.shared.accounts.lock().unwrap().clone();
        let path = request.uri().path().to_owned();
        let refusal = |method: &str| {
            accounts.as_ref().and_then(|accounts| accounts.gate(&path, &authorization, method))
        };
        if !authorization.is_empty() && *self.shared.unknown.lock().unwrap() == authorization {
            return Ok(plain(StatusCode::UNAUTHORIZED, ""));
        }
        if request.method() != Method::POST
            && let Some(refusal) = refusal("")
        {
            return Ok(refusal);
        }
        if request.method() != Method::POST {
            return Ok(plain(StatusCode::METHOD_NOT_ALLOWED, ""));
        }
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let message: Value = serde_json::from_slice(&body).unwrap();
        if let Some(refusal) = refusal(message["method"].as_str().unwrap_or_default()) {
            return Ok(refusal);
        }
        let is_first = matches!(message["method"].as_str(), Some("initialize" | "server/discover"));
        if !is_first && !self.shared.sessions.lock().unwrap().contains(&session) {
            return Ok(match self.shared.lost {
                Lost::BadRequest => plain(StatusCode::BAD_REQUEST, "No valid session ID provided"),
                Lost::NotFound => plain(StatusCode::NOT_FOUND, "Not Found"),
                Lost::BadRequestWithoutId => plain(
                    StatusCode::BAD_REQUEST,
                    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
                ),
            });
        }
        if let Some(tool) = message["params"]["name"].as_str() {
            if !authorization.is_empty() && *self.shared.revoked.lock().unwrap() == authorization {
                self.shared.revoked.lock().unwrap().clear();
                return Ok(plain(StatusCode::UNAUTHORIZED, ""));
            }
            self.shared.authorizations.lock().unwrap().push((authorization, tool.to_owned()));
            if tool == "busy" {
                return Ok(plain(StatusCode::TOO_MANY_REQUESTS, ""));
            }
        }
        let reaction = self.protocol.react(&message);
        let resource = message["params"]["uri"].as_str().and_then(|uri| uri.strip_prefix("x://"));
        if let Some(answer) = message["params"]["name"].as_str().or(resource).and_then(answered) {
            return Ok(answer);
        }
        let messages = match reaction {
            Reaction::Send(messages) => messages,
            Reaction::Hang => std::future::pending().await,
            Reaction::Die => {
                self.end();
                std::future::pending().await
            }
        };
        if messages.is_empty() {
            return Ok(plain(StatusCode::ACCEPTED, ""));
        }
        let events: String = messages.iter().map(|message| format!("data: {message}\n\n")).collect();
        let mut response = Response::new(Full::from(events));
        response.headers_mut().insert("content-type", "text/event-stream".parse().unwrap());
        if message["method"] == "initialize" {
            let id = format!("session-{}", self.protocol.count("initialize"));
            response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            self.shared.sessions.lock().unwrap().insert(id);
        }
        Ok(response)
    }
}

/// Returns the answer to a tool that has run, but whose result is no message of the protocol: `answer_` with the status, and
/// `answer_json` for an error without an id.
fn answered(tool: &str) -> Option<Response<Full<Bytes>>> {
    let status = match tool.strip_prefix("answer_")? {
        "json" => {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"The amount must be positive."}}"#;
            return Some(plain(StatusCode::BAD_REQUEST, error));
        }
        status => status.parse().unwrap(),
    };
    Some(plain(status, "The amount must be positive."))
}

fn plain(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    Response::builder().status(status).header("content-type", kind).body(Full::from(body)).unwrap()
}
