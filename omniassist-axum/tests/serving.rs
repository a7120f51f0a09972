//! A server and a client for the tests.

use axum::Router;
use reqwest::Response;
use serde_json::{Value, json};

/// Serves on a free port. Returns the base URL.
pub(crate) async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

pub(crate) async fn ask(url: &str, text: &str) -> Response {
    let body = json!({ "messages": [{ "id": "m1", "role": "user", "content": text }] });
    let request = reqwest::Client::new().post(url).header("content-type", "application/json");
    request.body(body.to_string()).send().await.unwrap()
}

/// Returns the chunks of a complete answer.
pub(crate) async fn chunks(response: Response) -> Vec<Value> {
    let body = response.text().await.unwrap();
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

pub(crate) fn texts(chunks: &[Value]) -> String {
    let deltas = chunks.iter().filter(|chunk| chunk["type"] == "text-delta");
    deltas.filter_map(|chunk| chunk["delta"].as_str()).collect()
}
