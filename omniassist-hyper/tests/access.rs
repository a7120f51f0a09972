//! Tests of access by host name, over HTTP/1 and HTTP/2.

use std::net::SocketAddr;

use hyper::service::service_fn;
use omniassist_hyper::testing::{ScriptedProvider, text};
use omniassist_hyper::{Assistant, AssistantBuilder, nest, service};
use reqwest::Client;
use reqwest::header::HOST;

use crate::client::asking;
use crate::serving::{own, serve};

fn builder() -> AssistantBuilder {
    Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello."))).allow_anonymous()
}

/// Posts over a version of HTTP with this host name, and returns the status.
async fn status(url: &str, http2: bool, host: Option<&str>) -> u16 {
    let client = Client::builder();
    let client = if http2 { client.http2_prior_knowledge() } else { client.http1_only() };
    let mut request =
        client.build().unwrap().post(url).header("content-type", "application/json").body(asking("hi"));
    if let Some(host) = host {
        request = request.header(HOST, host);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_page_with_a_rebound_name_is_refused() {
    let peer: SocketAddr = "127.0.0.1:5000".parse().unwrap();
    let assistant = builder().build().unwrap();
    let nested = serve(nest("/assistant", assistant.clone(), service_fn(own)).peer(peer)).await;
    let alone = serve(service(assistant.clone()).peer(peer)).await;
    let untold = serve(service(assistant)).await;
    let hosts = ["app.example.com"];
    let listed = serve(service(builder().allowed_hosts(hosts).build().unwrap()).peer(peer)).await;
    for url in [format!("{}/assistant", nested.base), alone.base.clone()] {
        assert_eq!(status(&url, false, None).await, 200, "{url}");
        assert_eq!(status(&url, true, None).await, 200, "{url}: the host is in the address");
        assert_eq!(status(&url, false, Some("rebound.example:3000")).await, 421, "{url}");
        assert_eq!(
            status(&url, true, Some("rebound.example:3000")).await,
            400,
            "{url}: not the one in the address"
        );
    }
    assert_eq!(
        status(&untold.base, false, Some("rebound.example")).await,
        200,
        "documented: tell who is there"
    );
    assert_eq!(status(&listed.base, false, Some("app.example.com")).await, 200, "behind a proxy");
    assert_eq!(status(&listed.base, false, Some("rebound.example")).await, 421);
}
