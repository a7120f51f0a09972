//! Tests of host names and of DNS rebinding.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use omniassist_server::PeerAddr;
use omniassist_server::http::{AssistantService, PostedRun};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{answer, builder, routes, serve};
use crate::spans::Recorder;

fn request(host: Option<&str>, peer: Option<&str>) -> Request<Full<Bytes>> {
    let mut request = routes::all().remove(0).request();
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, HeaderValue::from_str(host).unwrap());
    }
    if let Some(peer) = peer {
        request.extensions_mut().insert(PeerAddr(peer.parse::<SocketAddr>().unwrap()));
    }
    request
}

#[tokio::test]
async fn only_the_listed_hosts_are_served() {
    let hosts =
        ["app.example.com", "*.shops.example", "api.example.com:8443", "10.0.0.7", "[2001:db8::1]:443"];
    let service = serve(builder().1.allow_anonymous().allowed_hosts(hosts));
    for host in [
        "app.example.com",
        "APP.example.com.",
        "app.example.com:1234",
        "a.shops.example",
        "a.b.shops.example:80",
        "api.example.com:8443",
        "api.example.com.:08443",
        "app.example.com:",
        "10.0.0.7:3000",
        "[2001:db8:0::1]",
        "[2001:db8::1]:443",
    ] {
        assert_eq!(answer(&service, request(Some(host), None)).await.status, 200, "{host}");
    }
    for host in [
        "example.com",
        "evil.example",
        "app.example.com.evil.example",
        "xapp.example.com",
        "shops.example",
        "evilshops.example",
        "api.example.com",
        "api.example.com:443",
        "[2001:db8::1]:80",
        "localhost",
        "127.0.0.1",
    ] {
        let answer = answer(&service, request(Some(host), None)).await;
        assert_eq!(answer.status, 421, "{host}");
        assert!(answer.body.contains("\"code\":\"host_not_allowed\""), "{}", answer.body);
        assert!(!answer.body.contains(host), "the answer does not repeat the host");
    }
    let app = "app.example.com";
    for host in [
        "",
        ".",
        "..",
        "app..example.com",
        ":80",
        "a b",
        "user@app.example.com",
        "app.example.com/x",
        "app.example.com,evil",
        "app%2eexample.com",
        "app\\example.com",
        "app.example.com?b",
        "app.example.com#b",
        "*",
        "a:b",
        &format!("{app}:80:80"),
        &format!("{app}:99999"),
        &format!("{app}:-1"),
        "[::1",
        "::1",
        "[::1]x",
        "[::1%25lo]",
        "[127.0.0.1]",
    ] {
        assert_eq!(answer(&service, request(Some(host), None)).await.status, 400, "{host}");
    }
    assert_eq!(answer(&service, request(None, None)).await.status, 400);
}

#[tokio::test]
async fn over_loopback_a_rebound_name_is_refused() {
    let any = serve(builder().1.allow_anonymous());
    let listed = serve(builder().1.allow_anonymous().allowed_hosts(["app.example.com"]));
    for peer in ["127.0.0.1:5000", "127.8.8.8:5000", "[::1]:5000", "[::ffff:127.0.0.1]:5000"] {
        for host in [
            "localhost:3000",
            "app.localhost",
            "127.0.0.1:3000",
            "[0::1]",
            "[::ffff:127.0.0.1]",
            "LOCALHOST.:1",
        ] {
            assert_eq!(answer(&any, request(Some(host), Some(peer))).await.status, 200, "{peer} {host}");
            assert_eq!(answer(&listed, request(Some(host), Some(peer))).await.status, 200, "{peer} {host}");
        }
        for host in [
            "rebound.example:3000",
            "app.example.com",
            "localhost.evil.example",
            "notlocalhost",
            "127.0.0.1.evil.example",
            "128.0.0.1",
            "0x7f.1",
            "127.1",
            "[::2]",
            "0.0.0.0:3000",
            "2130706433",
        ] {
            assert_eq!(answer(&any, request(Some(host), Some(peer))).await.status, 421, "{peer} {host}");
        }
        assert_eq!(answer(&listed, request(Some("app.example.com"), Some(peer))).await.status, 200);
        assert_eq!(answer(&listed, request(Some("rebound.example"), Some(peer))).await.status, 421);
        assert_eq!(answer(&any, request(None, Some(peer))).await.status, 400);
        for (service, status) in [(&any, 200), (&listed, 400)] {
            let mut old = request(None, Some(peer));
            *old.version_mut() = http::Version::HTTP_10;
            assert_eq!(answer(service, old).await.status, status);
        }
    }
    for peer in [Some("192.168.1.4:5000"), Some("[2001:db8::2]:5000"), None] {
        assert_eq!(answer(&any, request(Some("rebound.example"), peer)).await.status, 200, "{peer:?}");
        assert_eq!(answer(&listed, request(Some("localhost"), peer)).await.status, 421, "{peer:?}");
    }
}

#[tokio::test]
async fn a_request_with_two_hosts_is_refused() {
    let service = serve(builder().1.allow_anonymous());
    let addressed = |uri: &str, host: Option<&str>| {
        let mut request = request(host, None);
        *request.uri_mut() = uri.parse::<Uri>().unwrap();
        answer(&service, request)
    };
    assert_eq!(addressed("http://app.example.com/", None).await.status, 200);
    assert_eq!(addressed("http://app.example.com/", Some("APP.example.com")).await.status, 200);
    assert_eq!(addressed("http://app.example.com/", Some("evil.example")).await.status, 400);
    assert_eq!(addressed("http://app.example.com/", Some("app.example.com:81")).await.status, 400);
    assert_eq!(addressed("http://user@app.example.com/", None).await.status, 400);
    let mut twice = request(Some("app.example.com"), None);
    twice.headers_mut().append(header::HOST, HeaderValue::from_static("evil.example"));
    assert_eq!(answer(&service, twice).await.status, 400);
}

/// Serves connections in sequence. Returns the address.
async fn listen(service: AssistantService) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, peer)) = listener.accept().await {
            let service = service.clone();
            let answer = hyper::service::service_fn(move |mut request: Request<hyper::body::Incoming>| {
                let service = service.clone();
                request.extensions_mut().insert(PeerAddr(peer));
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), answer);
            tokio::spawn(connection);
        }
    });
    address
}

/// Sends these lines, and returns the status of the answer.
async fn status(address: SocketAddr, head: &str) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    let request =
        format!("{head}connection: close\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    client.read_to_end(&mut seen).await.unwrap();
    let seen = String::from_utf8(seen).unwrap();
    seen.split(' ').nth(1).unwrap_or_else(|| panic!("{head}: {seen}")).to_owned()
}

#[tokio::test]
async fn the_rules_apply_on_a_socket() {
    let address = listen(serve(builder().1.allow_anonymous().allowed_hosts(["app.example.com"]))).await;
    let stop = |lines: &str| format!("POST /chat-1/stop HTTP/1.1\r\n{lines}");
    for (head, wanted) in [
        (stop("host: app.example.com\r\n"), "200"),
        (stop("Host:   app.example.com  \r\n"), "200"),
        (stop("host: localhost\r\n"), "200"),
        (stop("host: rebound.example\r\n"), "421"),
        (stop("host: app.example.com\r\nhost: rebound.example\r\n"), "400"),
        (stop(""), "400"),
        (stop("host:\r\n"), "400"),
        (stop("host: a@app.example.com\r\n"), "400"),
        (stop("host: rebound.example\r\nx-forwarded-host: app.example.com\r\n"), "421"),
        (stop("host: rebound.example\r\nforwarded: host=app.example.com\r\n"), "421"),
        (stop("host: app.example.com\r\norigin: https://app.example.com\r\n"), "200"),
        (stop("host: app.example.com\r\norigin: https://rebound.example\r\n"), "403"),
        ("POST http://app.example.com/chat-1/stop HTTP/1.1\r\nhost: app.example.com\r\n".to_owned(), "200"),
        ("POST http://rebound.example/chat-1/stop HTTP/1.1\r\nhost: app.example.com\r\n".to_owned(), "400"),
        ("POST /chat-1/stop HTTP/1.0\r\n".to_owned(), "400"),
    ] {
        assert_eq!(status(address, &head).await, wanted, "{head}");
    }
}

#[tokio::test]
async fn the_rules_apply_in_a_handler_of_the_host() {
    let assistant = builder().1.allow_anonymous().allowed_hosts(["app.example.com"]).build().unwrap();
    let read = async |host: &str, site: &'static str| {
        let mut request = request(Some(host), None);
        request.headers_mut().insert("sec-fetch-site", HeaderValue::from_static(site));
        PostedRun::read_for(request, &assistant)
            .await
            .map_or_else(|refusal| refusal.status().as_u16(), |_| 200)
    };
    assert_eq!(read("app.example.com", "same-origin").await, 200);
    assert_eq!(read("app.example.com", "cross-site").await, 403);
    assert_eq!(read("evil.example", "same-origin").await, 421);
}

#[tokio::test]
async fn the_log_has_one_hint_about_the_list() {
    let (recorder, _guard) = Recorder::install();
    let service = serve(builder().1.allow_anonymous());
    for _ in 0..3 {
        answer(&service, request(Some("rebound.example"), Some("127.0.0.1:5000"))).await;
        let mut foreign = request(Some("app.example.com"), Some("192.0.2.1:5000"));
        foreign.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("https://app.example"));
        answer(&service, foreign).await;
    }
    for (method, value) in [("allowed_hosts", "rebound.example"), ("allow_origin", "https://app.example")] {
        let warnings = recorder.events_saying(&format!("AssistantBuilder::{method}"));
        assert_eq!(warnings.len(), 1, "{method}");
        assert!(warnings[0].values().any(|field| field.contains(value)), "{warnings:?}");
    }
}

#[test]
fn the_error_names_an_invalid_host() {
    for host in
        ["", "*", "*.", "https://app.example.com", "app.example.com/x", "a b", "app.*.com", "münchen.example"]
    {
        let error = builder().1.allowed_hosts([host]).build().unwrap_err();
        assert!(error.is_configuration() && error.to_string().contains(&format!("`{host}`")), "{error}");
    }
}

#[tokio::test]
async fn the_log_has_one_warning_about_rebinding() {
    const WARNING: &str = "the address of the peer is unknown";
    let (recorder, _guard) = Recorder::install();
    let told = serve(builder().1.allow_anonymous());
    answer(&told, request(Some("localhost"), Some("127.0.0.1:5000"))).await;
    let listed = serve(builder().1.allow_anonymous().allowed_hosts(["app.example.com"]));
    answer(&listed, request(Some("app.example.com"), None)).await;
    assert_eq!(recorder.events_saying(WARNING).len(), 0);

    let blind = serve(builder().1.allow_anonymous());
    for _ in 0..2 {
        answer(&blind, request(Some("evil.example"), None)).await;
    }
    assert_eq!(recorder.events_saying(WARNING).len(), 1);
}
