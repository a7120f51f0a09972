//! Requests to internal servers: a listener counts the connections, and must see none.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Response;
use omniassist_openapi::OpenApi;
use omniassist_server::ToolError;
use omniassist_server::outbound::{OutboundError, OutboundPolicy};
use serde_json::{Value, json};

use crate::internal_hosts::{Canary, HOSTS, INTERNAL, look_up};
use crate::server::{Server, call, document, tool};

fn read() -> Value {
    document("3.0.3", &json!({ "/a": { "get": { "operationId": "read" } } }))
}

fn open(url: &str, policy: OutboundPolicy) -> OpenApi {
    OpenApi::from_json("t", &read().to_string()).unwrap().server(url).outbound(policy)
}

fn is_refused(error: &ToolError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<OutboundError>());
    source.is_some_and(OutboundError::is_refused)
}

#[tokio::test]
async fn no_form_of_an_internal_address_is_contacted() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let canary = Canary::on(port, &["127.0.0.1", "127.0.0.2", "::1"]);
    let mut forms = 0;
    for host in HOSTS {
        for scheme in ["http", "https"] {
            let policy = OutboundPolicy::new().allow_http().resolver(look_up).timeout(Duration::from_secs(5));
            match open(&format!("{scheme}://{host}:{port}"), policy).tools() {
                Err(error) => assert!(error.is_configuration(), "{host}: {error}"),
                Ok(tools) => {
                    let error = call(&tool(&tools, "t_read"), &json!({})).await.unwrap_err();
                    assert!(is_refused(&error), "{host}: {error:?}");
                    assert_eq!(error.text(), "The server could not be reached. Nothing was sent.", "{host}");
                }
            }
            forms += 1;
        }
    }
    assert_eq!((forms, canary.connections()), (128, 0));
}

#[tokio::test]
async fn an_allowed_host_does_not_reach_credentials_of_a_cloud() {
    let server = Server::start().await;
    let port = server.address.port();
    for (address, is_reached) in [
        ("127.0.0.1", true),
        ("::ffff:127.0.0.1", true),
        ("169.254.169.254", false),
        ("::ffff:169.254.169.254", false),
        ("fd00:ec2::254", false),
        ("100.100.100.200", false),
        ("168.63.129.16", false),
        ("fe80::1", false),
        ("0.0.0.0", false),
        ("64:ff9b::7f00:1", false),
    ] {
        let address: IpAddr = address.parse().unwrap();
        let policy = OutboundPolicy::new().resolver(move |_| async move { Ok(vec![address]) });
        let open = open(&format!("http://erp.internal:{port}"), policy).allow_hosts(["erp.internal"]);
        let outcome = call(&tool(&open.tools().unwrap(), "t_read"), &json!({})).await;
        assert_eq!(outcome.is_ok(), is_reached, "{address}");
        assert!(outcome.is_ok() || is_refused(&outcome.unwrap_err()), "{address}");
    }
    assert_eq!(server.received().len(), 2);
    // Only the host that is named is allowed.
    let policy = || OutboundPolicy::new().resolver(async |_| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]));
    for host in ["other.internal", "erp.internal.evil.test", "xerp.internal"] {
        let open = open(&format!("https://{host}:{port}"), policy()).allow_hosts(["erp.internal"]);
        let error = call(&tool(&open.tools().unwrap(), "t_read"), &json!({})).await.unwrap_err();
        assert!(is_refused(&error), "{host}: {error:?}");
    }
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = Server::start().await;
    let port = server.address.port();
    let canary = Canary::on(port, &["127.0.0.2"]);
    let one = tool(&server.open(&read()).tools().unwrap(), "t_read");
    let targets = [
        format!("http://127.0.0.2:{port}/"),
        format!("//127.0.0.2:{port}/"),
        "/elsewhere".to_owned(),
        format!("http://localhost:{port}/"),
        "file:///etc/passwd".to_owned(),
        "http://[".to_owned(),
    ];
    for status in [301, 302, 303, 307, 308] {
        for target in &targets {
            let before = server.received().len();
            server.reply(
                Response::builder()
                    .status(status)
                    .header("location", target)
                    .body("moved".to_owned())
                    .unwrap(),
            );
            let error = call(&one, &json!({})).await.unwrap_err();
            assert!(error.text().ends_with("a redirect, which is not followed."), "{target}: {error}");
            assert!(!error.text().contains("127.0.0.2"), "{error}");
            assert_eq!(server.received().len(), before + 1, "{target}");
        }
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_address_reaches_no_internal_server() {
    let server = Server::start().await;
    let port = server.address.port();
    let canary = Canary::on(port, &["127.0.0.2"]);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // The first address of each pair of look-ups is allowed, as an attacker's name server would answer.
    let policy = OutboundPolicy::new().allow_http().allow_address(Ipv4Addr::LOCALHOST).resolver(move |_| {
        let is_first = count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move { Ok(vec![if is_first { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { INTERNAL }]) }
    });
    let one = tool(&open(&format!("http://rebind.test:{port}"), policy).tools().unwrap(), "t_read");
    for round in 1..=20 {
        // Each request looks the name up once and connects to the checked address.
        call(&one, &json!({})).await.unwrap();
        assert!(is_refused(&call(&one, &json!({})).await.unwrap_err()));
        assert_eq!((asked.load(Ordering::Relaxed), server.received().len()), (2 * round, round));
    }
    assert_eq!(canary.connections(), 0);
    // Of several addresses, only those that are allowed are used.
    let policy = OutboundPolicy::new().allow_http().allow_address(Ipv4Addr::LOCALHOST);
    let policy = policy.resolver(async |_| Ok(vec![INTERNAL, IpAddr::V4(Ipv4Addr::LOCALHOST), INTERNAL]));
    call(&tool(&open(&format!("http://rebind.test:{port}"), policy).tools().unwrap(), "t_read"), &json!({}))
        .await
        .unwrap();
    assert_eq!((canary.connections(), server.received().len()), (0, 21));
}

#[test]
fn a_canary_sees_connections() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let canary = Canary::on(port, &["127.0.0.1", "127.0.0.2"]);
    let connection = std::net::TcpStream::connect((INTERNAL, port)).unwrap();
    assert_eq!(canary.connections(), 1);
    assert_eq!(canary.0[0].accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(connection);
}
