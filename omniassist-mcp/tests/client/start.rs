//! The start of an assistant, whatever its servers do.

use std::time::{Duration, Instant};

use http::Extensions;
use omniassist_mcp::client::{McpAuth, McpServer};
use omniassist_server::Principal;
use omniassist_server::core::RunRequest;
use tokio::net::TcpListener;

use super::http_server::{HttpServer, Lost};
use super::protocol::{Protocol, tool};
use super::{Desk, open};

#[tokio::test]
async fn building_does_not_wait_for_any_server() {
    let good = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = format!("http://{}/mcp", silent.local_addr().unwrap());
    let began = Instant::now();
    let desk = Desk::new([
        open(McpServer::http("dead", "http://127.0.0.1:1/mcp")),
        open(McpServer::http("slow", slow)),
        open(McpServer::http("good", &good.url)),
    ]);
    let took = began.elapsed();
    assert!(took < Duration::from_millis(50), "{took:?}");
    println!("build() took {took:?}");
    // The first run has none, and the next has those that came meanwhile.
    desk.assistant.run(RunRequest::prompt("good_look")).text().await.unwrap();
    desk.until(|desk| desk.assistant.tools().names() == ["good_look"]).await;
    assert!(desk.call("good_look").await.to_string().contains("look ran"));
    desk.until(|desk| desk.assistant.tools().sources()[0].state.as_str() == "unavailable").await;
    assert_eq!(desk.assistant.tools().sources()[2].state.as_str(), "connecting");
}

#[tokio::test]
async fn a_run_waits_for_a_server_that_it_needs() {
    let good = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let desk = Desk::new([open(McpServer::http("good", &good.url)).required(true)]);
    assert!(desk.call("good_look").await.to_string().contains("look ran"));

    let desk = Desk::new([open(McpServer::http("dead", "http://127.0.0.1:1/mcp")).required(true)]);
    let began = Instant::now();
    let refused = desk.assistant.try_run(RunRequest::prompt("x"), Extensions::new()).await;
    assert!(refused.is_err() && began.elapsed() < Duration::from_secs(6));
    assert!(desk.model.payloads().is_empty());
}

#[test]
fn a_source_that_was_attached_outside_a_runtime_starts_with_the_first_run() {
    let desk = Desk::new([open(McpServer::http("dead", "http://127.0.0.1:1/mcp")).required(true)]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let good = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
        assert!(desk.assistant.tools().detach("dead"));
        let server = open(McpServer::http("good", &good.url)).required(true);
        std::thread::scope(|scope| {
            scope.spawn(|| desk.assistant.tools().attach(server).unwrap());
        });
        assert_eq!(good.protocol.count("initialize"), 0);
        assert!(desk.call("good_look").await.to_string().contains("look ran"));
    });
}

#[tokio::test]
async fn a_change_of_the_tools_is_in_the_next_run() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    server.protocol.set_ttl(1);
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    let began = Instant::now();
    server.protocol.set_tools(vec![tool("find")]);
    desk.until(|desk| desk.assistant.tools().names() == ["docs_find"]).await;
    assert!(began.elapsed() > Duration::from_secs(4), "1 ms is too often: {:?}", began.elapsed());
}

#[test]
fn a_runtime_that_ends_takes_no_server_with_it() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (of_server, second) = (runtime(), runtime());
    let server = of_server.block_on(HttpServer::start(Protocol::new(["look"]), Lost::NotFound));
    let per_principal = McpAuth::per_principal(async |user: Principal| Some(user.id().to_owned()));
    for auth in [McpAuth::bearer("token"), per_principal] {
        let first = runtime();
        let desk = first.block_on(async {
            let source = open(McpServer::http("docs", &server.url)).auth(auth).required(true);
            let desk = Desk::new([source]);
            assert!(desk.call_as("ann", "docs_look").await.to_string().contains("look ran"));
            desk
        });
        first.shutdown_timeout(Duration::from_secs(5));
        second.block_on(async {
            server.protocol.set_tools(vec![tool("look"), tool("find")]);
            for name in ["look", "find"] {
                let result = desk.call_as("ann", &format!("docs_{name}")).await.to_string();
                assert!(result.contains(&format!("{name} ran")), "{result}");
            }
        });
    }
}
