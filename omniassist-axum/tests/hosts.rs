//! Tests of host names, with and without the peer's address from axum.

use std::net::SocketAddr;

use axum::Router;
use axum::response::Response;
use axum::routing::post;
use omniassist_axum::testing::{ScriptedProvider, text};
use omniassist_axum::{Assistant, AssistantRequest};
use reqwest::header::HOST;
use serde_json::json;

async fn chat(posted: AssistantRequest) -> Response {
    posted.respond().await
}

/// Serves below a path, and at `/chat` by a handler of the application. Returns the URL of the assistant.
async fn serve(assistant: Assistant, tells_peer: bool) -> String {
    let app = Router::new().route("/chat", post(chat)).with_state(assistant.clone());
    let app = app.nest_service("/assistant", omniassist_axum::router(assistant));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/assistant", listener.local_addr().unwrap());
    if tells_peer {
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, app).await });
    } else {
        tokio::spawn(async move { axum::serve(listener, app).await });
    }
    url
}

fn assistant(hosts: &[&str]) -> Assistant {
    let builder = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello."))).allow_anonymous();
    let builder = if hosts.is_empty() { builder } else { builder.allowed_hosts(hosts.iter().copied()) };
    builder.build().unwrap()
}

async fn status(url: &str, host: Option<&str>) -> u16 {
    let body = json!({ "messages": [{ "id": "m1", "role": "user", "content": "hi" }] });
    let mut request =
        reqwest::Client::new().post(url).header("content-type", "application/json").body(body.to_string());
    if let Some(host) = host {
        request = request.header(HOST, host);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_page_with_a_rebound_name_is_refused() {
    let url = serve(assistant(&[]), true).await;
    assert_eq!(status(&url, None).await, 200);
    assert_eq!(status(&url, Some("localhost:3000")).await, 200);
    let handler = url.replace("/assistant", "/chat");
    assert_eq!(status(&handler, None).await, 200);
    for url in [&url, &handler] {
        assert_eq!(status(url, Some("rebound.example:3000")).await, 421, "{url}");
    }
    let behind_a_proxy = serve(assistant(&["app.example.com"]), true).await;
    assert_eq!(status(&behind_a_proxy, Some("app.example.com")).await, 200);
    assert_eq!(status(&behind_a_proxy, Some("rebound.example")).await, 421);
}

#[tokio::test]
async fn without_the_peers_address_only_the_list_is_checked() {
    let url = serve(assistant(&[]), false).await;
    assert_eq!(
        status(&url, Some("rebound.example")).await,
        200,
        "without the address, rebinding is not detected, as documented"
    );
    let listed = serve(assistant(&["app.example.com"]), false).await;
    assert_eq!(status(&listed, Some("app.example.com")).await, 200);
    assert_eq!(status(&listed, None).await, 421);
}
