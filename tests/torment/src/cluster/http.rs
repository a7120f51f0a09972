//! Requests over connections of their own, and streams of numbered events.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::server::{KEEP_ALIVE, USER};

/// The time for the head of a response.
const HEAD: Duration = Duration::from_secs(5);

/// The silence after which a connection is lost.
const SILENCE: Duration = Duration::from_millis(KEEP_ALIVE.as_millis() as u64 * 3);

/// A request of a user.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) user: &'a str,
    pub(crate) method: Method,
    pub(crate) path: String,
    /// The key with which a post has its effect once.
    pub(crate) key: Option<&'a str>,
    pub(crate) body: Option<Value>,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(user: &'a str, path: String) -> Self {
        Self { user, method: Method::GET, path, key: None, body: None }
    }

    pub(crate) fn post(user: &'a str, path: String, body: Value) -> Self {
        Self { user, method: Method::POST, path, key: None, body: Some(body) }
    }

    /// Sends the request, and returns the response without its body.
    pub(crate) async fn open(&self, server: SocketAddr) -> io::Result<Response<Incoming>> {
        timeout(HEAD, self.send(server)).await?
    }

    /// Sends the request, and returns the status and the JSON of the response.
    pub(crate) async fn json(&self, server: SocketAddr) -> io::Result<(StatusCode, Value)> {
        let response = self.open(server).await?;
        let status = response.status();
        let body = timeout(HEAD, response.into_body().collect()).await?.map_err(io::Error::other)?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    async fn send(&self, server: SocketAddr) -> io::Result<Response<Incoming>> {
        let socket = TcpStream::connect(server).await?;
        socket.set_nodelay(true)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(socket)).await.map_err(io::Error::other)?;
        tokio::spawn(async move { drop(connection.await) });
        let mut request =
            Request::builder().method(self.method.clone()).uri(&self.path).header("host", "localhost");
        request = request.header(USER, self.user);
        if let Some(key) = self.key {
            request = request.header("idempotency-key", key);
        }
        if self.body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = self.body.as_ref().map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        sender.send_request(request.body(Full::new(body)).unwrap()).await.map_err(io::Error::other)
    }
}

/// An event, and the cursor that a client has with it.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) cursor: String,
    pub(crate) data: Value,
}

/// The events of a response.
pub(crate) struct Events {
    body: Incoming,
    rest: String,
    cursor: String,
}

impl Events {
    pub(crate) fn of(response: Response<Incoming>) -> Self {
        Self { body: response.into_body(), rest: String::new(), cursor: String::new() }
    }

    /// Returns the next event, or `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is cut, or silent for too long.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            while let Some((line, rest)) = self.rest.split_once('\n') {
                let (line, rest) = (line.trim_end().to_owned(), rest.to_owned());
                self.rest = rest;
                if line == "data: [DONE]" {
                    return Ok(None);
                }
                if let Some(cursor) = line.strip_prefix("id: ") {
                    cursor.clone_into(&mut self.cursor);
                }
                if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data)?;
                    return Ok(Some(Event { cursor: self.cursor.clone(), data }));
                }
            }
            let frame = timeout(SILENCE, self.body.frame()).await?;
            let frame = frame.ok_or(io::ErrorKind::UnexpectedEof)?.map_err(io::Error::other)?;
            self.rest.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap_or_default()));
        }
    }
}
