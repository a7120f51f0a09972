//! The network on the way to a provider: names, proxies, redirects, heads that are too long.

use std::sync::Arc;

use reqwest::dns::{Name, Resolve, Resolving};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::super::sender::client;
use super::*;
use crate::provider::error_from_response;

/// An error with all that caused it, as a log prints it.
fn chain(error: &Error) -> String {
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        chain.push_str(&format!(": {error}"));
        source = error.source();
    }
    chain
}

fn once() -> Limits {
    let mut limits = limits();
    limits.max_retries = 0;
    limits
}

/// A resolver that knows no name; what the system's does with one depends on the network.
struct NobodyKnows;

impl Resolve for NobodyKnows {
    fn resolve(&self, name: Name) -> Resolving {
        let error = format!("no address for {}", name.as_str());
        Box::pin(async { Err(error.into()) })
    }
}

async fn through_proxy(proxy: &FakeProvider, base_url: &str) -> Heard {
    let proxy = reqwest::Proxy::all(format!("http://{}", proxy.address())).unwrap();
    let recipe = move || client(&once()).proxy(proxy.clone());
    let transport = Transport::with_clients(once(), recipe, false).unwrap();
    hear(transport.stream(request(base_url), || Box::new(Lines::default()), error_from_response)).await
}

#[tokio::test]
async fn a_proxy_that_wants_credentials_says_so() {
    let proxy = serve([Reply::html(407, "who are you?")]).await;
    let heard = through_proxy(&proxy, "http://provider.invalid/v1").await;
    assert_eq!((heard.kind(), heard.error().status()), (Some(ProviderErrorKind::Auth), Some(407)));

    let proxy = serve([Reply::status(407).content_length(0)]).await;
    let heard = through_proxy(&proxy, "https://provider.invalid/v1").await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
    assert!(chain(heard.error()).contains("proxy auth"), "{}", chain(heard.error()));
    let request = proxy.request(1).await;
    assert_eq!(request.method, "CONNECT");
    assert_eq!(request.header("authorization"), None, "the key is not for the proxy");
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_from_a_port_that_nobody_serves() {
    let recipe = || client(&once()).no_proxy().dns_resolver(Arc::new(NobodyKnows));
    let transport = Transport::with_clients(once(), recipe, false).unwrap();
    let base_url = "http://no-such-provider.invalid/v1";
    let unknown = hear(transport.stream(request(base_url), || Box::new(Lines::default()), read_error)).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = hear(ask(&format!("http://{closed}/v1"), once())).await;
    for heard in [&unknown, &closed] {
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
        assert!(heard.took < Duration::from_secs(5), "{:?}", heard.took);
    }
    let told = chain(unknown.error());
    assert!(told.contains("dns") && told.contains("no address"), "{told}");
    assert!(chain(closed.error()).contains("refused"), "{}", chain(closed.error()));
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let heard = hear(ask(&base_url, once())).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect), "{heard:?}");
    assert!(heard.took < Duration::from_secs(2), "{:?}", heard.took);
    server.await.unwrap();
}

#[tokio::test]
async fn a_redirect_to_another_host_reaches_nobody() {
    let canary = FakeProvider::start().await.unwrap();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/lines", canary.base_url());
        let server = serve([Reply::status(status).header("location", location)]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!((heard.kind(), heard.error().status()), (Some(ProviderErrorKind::Response), Some(status)));
        assert_eq!(server.requests().len(), 1);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(canary.events().is_empty(), "{:?}", canary.events());
}

#[tokio::test]
async fn a_head_that_does_not_end_is_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let many = (0..200).map(|n| format!("x-{n}: y\r\n")).collect::<String>();
    let long = format!("x-long: {}\r\n", "y".repeat(1 << 20));
    for header in [many, long] {
        let server = serve([Reply::raw(format!("{head}{header}\r\nhello\nEND\n"))]).await;
        let heard = hear_with(&server, once()).await;
        assert!(heard.error.is_some() && heard.said.is_empty(), "{heard:?}");
    }
    let server = serve([Reply::raw(format!("{head}x-long: ")).endless()]).await;
    assert!(hear_with(&server, once()).await.error.is_some());
    server.closed().await;
}

#[tokio::test]
async fn interim_answers_are_passed_over_but_not_for_ever() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(20);
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 10\r\n\r\nhello\nEND\n";
    let server = serve([Reply::raw(format!("{interim}{answer}"))]).await;
    assert!(hear_with(&server, once()).await.is_whole());

    let mut limits = once();
    limits.first_byte_timeout = Some(Duration::from_millis(300));
    let server = serve([Reply::raw("HTTP/1.1 100 Continue\r\n\r\n").endless()]).await;
    let heard = hear_with(&server, limits).await;
    assert!(heard.error.is_some(), "{heard:?}");
    assert!(heard.took < Duration::from_secs(3), "{:?}", heard.took);
    server.closed().await;
}

#[tokio::test]
async fn trailers_are_read_over_and_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = "a\r\nhello\nEND\n\r\n0\r\n";
    let server = serve([Reply::raw(format!("{head}{body}x-checksum: 7\r\n\r\n"))]).await;
    assert!(hear_with(&server, once()).await.is_whole());
    let server = serve([Reply::raw(format!("{head}6\r\nhello\n\r\n0\r\nx: {}", "y".repeat(1 << 20)))]).await;
    let heard = hear_with(&server, once()).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{heard:?}");
    assert_eq!(heard.said, ["hello"]);
}
