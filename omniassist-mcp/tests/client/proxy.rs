//! The proxy of the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_mcp::client::{McpAuth, McpServer};
use tokio::net::TcpListener;
use tokio::process::Command;

use super::http_server::{HttpServer, Lost};
use super::protocol::Protocol;
use super::{Desk, open};

/// Holds the URL of a server.
const SERVER: &str = "PROXIED_SERVER";

/// Is not a test: calls a server in a process that has a proxy.
#[tokio::test]
async fn call() {
    let Ok(url) = std::env::var(SERVER) else { return };
    let desk = Desk::new([open(McpServer::http("docs", url)).auth(McpAuth::bearer("token"))]).ready().await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
}

#[tokio::test]
async fn a_server_on_this_machine_is_not_reached_by_a_proxy() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let accepted = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&accepted);
    tokio::spawn(async move {
        while proxy.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut called = Command::new(std::env::current_exe().unwrap());
    called.args(["client::proxy::call", "--exact"]).env(SERVER, &server.url).kill_on_drop(true);
    called.env("http_proxy", &address).env_remove("no_proxy").env_remove("NO_PROXY");
    let called = called.output().await.unwrap();
    // The token would have been sent to it.
    assert_eq!(accepted.load(Ordering::Relaxed), 0);
    assert!(called.status.success(), "{}", String::from_utf8_lossy(&called.stdout));
    assert_eq!(server.protocol.calls("look"), 1);
}
