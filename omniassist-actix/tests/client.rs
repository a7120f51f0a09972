//! Clients that send requests and read streams.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit of a wait: long enough for a busy machine, and shorter than a run that is not stopped.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn asking(text: &str) -> String {
    json!({ "id": "c", "messages": [{ "id": "m1", "role": "user", "content": text }] }).to_string()
}

pub(crate) async fn post(url: &str, body: String) -> Response {
    Client::new().post(url).header("content-type", "application/json").body(body).send().await.unwrap()
}

pub(crate) async fn ask(url: &str) -> Response {
    post(url, asking("hi")).await
}

/// Returns the chunks of a complete answer.
pub(crate) async fn chunks(response: Response) -> Vec<Value> {
    let body = response.text().await.unwrap();
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

pub(crate) fn output(chunks: &[Value]) -> &Value {
    let found = chunks.iter().find(|chunk| chunk["type"] == "tool-output-available");
    &found.unwrap_or_else(|| panic!("a tool output: {chunks:?}"))["output"]
}

pub(crate) fn tool_error(chunks: &[Value]) -> &str {
    let found = chunks.iter().find(|chunk| chunk["type"] == "tool-output-error");
    found.expect("a tool error")["errorText"].as_str().unwrap()
}

pub(crate) async fn json(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

/// A client on a plain socket.
pub(crate) struct Raw(TcpStream);

impl Raw {
    /// Posts `body` and does not read yet.
    pub(crate) async fn post(address: SocketAddr, path: &str, body: &str) -> Self {
        let mut client = Self(TcpStream::connect(address).await.unwrap());
        client.again(path, body).await;
        client
    }

    /// Posts with HTTP/1.0 and an additional header.
    pub(crate) async fn post_1_0(address: SocketAddr, path: &str, header: &str, body: &str) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = format!("content-type: application/json\r\n{header}content-length: {}", body.len());
        socket.write_all(format!("POST {path} HTTP/1.0\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        Self(socket)
    }

    /// Sends these bytes.
    pub(crate) async fn send(address: SocketAddr, bytes: &str) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(bytes.as_bytes()).await.unwrap();
        Self(socket)
    }

    /// Posts on the same connection.
    pub(crate) async fn again(&mut self, path: &str, body: &str) {
        let length = body.len();
        let head = format!("host: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}");
        self.0.write_all(format!("POST {path} HTTP/1.1\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    }

    /// Reads until `wanted` arrives. Returns everything that was read.
    pub(crate) async fn until(&mut self, wanted: &str) -> String {
        let mut seen = String::new();
        let mut buffer = [0; 4096];
        while !seen.contains(wanted) {
            let read = timeout(PATIENCE, self.0.read(&mut buffer)).await;
            let read = read.unwrap_or_else(|_| panic!("nothing more arrives: {seen}")).unwrap();
            assert_ne!(read, 0, "the answer ended without {wanted:?}: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        seen
    }

    /// Reads to the end of the connection.
    pub(crate) async fn end(mut self) -> String {
        let mut seen = Vec::new();
        // A reset also counts as the end.
        let _ = timeout(PATIENCE, self.0.read_to_end(&mut seen)).await.expect("the connection ends");
        String::from_utf8(seen).unwrap()
    }
}
