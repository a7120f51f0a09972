//! Servers that restart, die and hang.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use omniassist_mcp::client::McpServer;
use omniassist_server::Principal;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::half_open::Relay;
use super::http_server::{HttpServer, Lost};
use super::protocol::{Protocol, tool};
use super::{Desk, open, stdio_server};

/// The time in which a call after a fault is right.
const SOON: Duration = Duration::from_secs(1);

#[tokio::test]
async fn the_call_after_a_restart_is_right() {
    for lost in [Lost::BadRequestWithoutId, Lost::NotFound] {
        let server = HttpServer::start(Protocol::new(["look"]), lost).await;
        let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
        desk.call("docs_look").await;
        // A connection that is younger is not replaced at once.
        tokio::time::sleep(Duration::from_millis(600)).await;
        server.restart().await;
        let began = Instant::now();
        let result = desk.call("docs_look").await.to_string();
        assert!(result.contains("look ran"), "{result}");
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        println!("the call after a restart took {:?}", began.elapsed());
        assert_eq!((server.protocol.calls("look"), server.protocol.count("initialize")), (2, 2));
        assert_eq!(server.protocol.count("server/discover"), 1, "its versions are known by then");
    }
}

/// Shows the faults that the transport of this crate does not have. The one below has a new connection for each request, so
/// that none is half-open.
#[tokio::test]
async fn the_bare_protocol_crate_waits_for_ever() {
    let faults = [("400 without an id", true), ("404", false), ("a hang", true), ("half-open", false)];
    let waits = join_all(faults.map(|(fault, _)| async move {
        let lost = if fault == "404" { Lost::NotFound } else { Lost::BadRequestWithoutId };
        let server = HttpServer::start(Protocol::new(["look", "hang"]), lost).await;
        let relay = Relay::start(&server.url).await;
        let transport = StreamableHttpClientTransport::from_uri(relay.url.clone());
        let client = ().serve(transport).await.unwrap();
        client.call_tool(CallToolRequestParams::new("look")).await.unwrap();
        match fault {
            "half-open" => relay.fall_silent(),
            "a hang" => {}
            _ => server.restart().await,
        }
        let tool = if fault == "a hang" { "hang" } else { "look" };
        let call = client.call_tool(CallToolRequestParams::new(tool));
        let end = tokio::time::timeout(Duration::from_secs(3), call).await;
        let waits = end.is_err();
        println!("bare rmcp, {fault}: {}", if waits { "no end after 3 s" } else { "an end" });
        assert!(!waits || !client.is_closed());
        waits
    }));
    assert_eq!(waits.await, faults.map(|(_, waits)| waits));
}

#[tokio::test]
async fn calls_that_meet_a_restart_together_reconnect_once() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::BadRequestWithoutId).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    server.restart().await;
    let calls = (0..20).map(|_| desk.call("docs_look"));
    for result in join_all(calls).await {
        assert!(result.to_string().contains("look ran"), "{result}");
    }
    assert_eq!((server.protocol.calls("look"), server.protocol.count("initialize")), (20, 2));
}

#[tokio::test]
async fn a_call_during_which_the_server_dies_is_not_repeated() {
    let server = HttpServer::start(Protocol::new(["die", "look"]), Lost::NotFound).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    let result = desk.call("docs_die").await.to_string();
    assert!(result.contains("The server went away; it may or may not have acted."), "{result}");
    assert_eq!(server.protocol.calls("die"), 1);
    let began = Instant::now();
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_call_that_is_answered_with_an_http_error_is_not_said_to_have_not_run() {
    let tools = ["answer_400", "answer_json", "answer_404"];
    let server = HttpServer::start(Protocol::new(tools), Lost::NotFound).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    for (tool, ran) in [("answer_400", 1), ("answer_json", 1), ("answer_404", 2)] {
        let result = desk.call(&format!("docs_{tool}")).await.to_string();
        assert!(!result.contains("did not run"), "{tool}: {result}");
        // Status 404 says that the session has ended, so the call is repeated in another.
        assert_eq!(server.protocol.calls(tool), ran, "{tool}: {result}");
    }
}

#[tokio::test]
async fn a_call_that_is_answered_with_an_http_status_keeps_the_connection() {
    let statuses = [200, 307, 400, 413, 422, 500, 503];
    let tools = statuses.map(|status| format!("answer_{status}"));
    let server = HttpServer::start(Protocol::new(tools.iter().map(String::as_str)), Lost::NotFound).await;
    let docs = Arc::new(open(McpServer::http("docs", &server.url)));
    let desk = Desk::new([Arc::clone(&docs)]).ready().await;
    for (status, tool) in statuses.iter().zip(&tools) {
        let result = desk.call(&format!("docs_{tool}")).await.to_string();
        let expected = format!("HTTP status {status} and no result; it may or may not have acted.");
        assert!(result.contains(&expected), "{result}");
        assert_eq!(server.protocol.calls(tool), 1);
    }
    let error = docs.read(&Principal::anonymous(), "x://answer_503").await.unwrap_err();
    assert!(error.status() == Some(503) && error.to_string().contains("HTTP status 503"), "{error}");
    assert_eq!(server.protocol.count("initialize"), 1);
}

#[tokio::test]
async fn a_session_that_is_refused_without_a_message_of_the_protocol_is_replaced() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::BadRequest).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    server.restart().await;
    let result = desk.call("docs_look").await.to_string();
    assert!(result.contains("HTTP status 400"), "{result}");
    desk.until(|_| server.protocol.count("initialize") == 2).await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
}

#[tokio::test]
async fn a_call_of_a_trusted_read_only_tool_is_repeated_once() {
    let mut read_only = tool("die");
    read_only["annotations"] = json!({"readOnlyHint": true});
    let server = HttpServer::start(Protocol::default(), Lost::NotFound).await;
    server.protocol.set_tools(vec![read_only]);
    let desk = Desk::new([McpServer::http("docs", &server.url).trust_annotations(true)]).ready().await;
    let result = desk.call("docs_die").await.to_string();
    assert!(result.contains("it may or may not have acted"), "{result}");
    assert_eq!(server.protocol.calls("die"), 2);
}

#[tokio::test]
async fn a_process_that_dies_is_started_again() {
    let server = open(McpServer::stdio("proc", &stdio_server::command("look,die")));
    let desk = Desk::new([server]).ready().await;
    assert!(desk.call("proc_look").await.to_string().contains("look ran"));
    let result = desk.call("proc_die").await.to_string();
    assert!(result.contains("it may or may not have acted"), "{result}");
    let began = Instant::now();
    let result = desk.call("proc_look").await.to_string();
    assert!(result.contains("look ran"), "{result}");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    println!("the call after the death of a process took {:?}", began.elapsed());
}

#[tokio::test]
async fn a_process_that_hangs_is_replaced() {
    let server = open(McpServer::stdio("proc", &stdio_server::command("look,hang")));
    let desk = Desk::new([server.call_timeout(Duration::from_secs(1))]).ready().await;
    let result = desk.call("proc_hang").await.to_string();
    assert!(result.contains("did not answer in time"), "{result}");
    // The process gives no sign of life in 5 s.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let result = desk.call("proc_look").await.to_string();
    assert!(result.contains("look ran"), "{result}");
}

#[tokio::test]
async fn a_server_that_says_nothing_does_not_hold_the_others() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let desk = Desk::new([
        open(McpServer::http("half", format!("http://{}/mcp", silent.local_addr().unwrap()))),
        open(McpServer::http("docs", &server.url)),
    ]);
    desk.until(|desk| !desk.assistant.tools().names().is_empty()).await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
}

#[tokio::test]
async fn a_call_over_half_open_connections_ends_by_its_deadline() {
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let relay = Relay::start(&server.url).await;
    let source = open(McpServer::http("docs", &relay.url)).call_timeout(SOON);
    let desk = Desk::new([source]).ready().await;
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    relay.fall_silent();
    let began = Instant::now();
    let result = desk.call("docs_look").await.to_string();
    println!("{result} after {:?}", began.elapsed());
    assert!(result.contains("did not answer in time"), "{result}");
    assert!(began.elapsed() < SOON + Duration::from_millis(500), "{:?}", began.elapsed());
    let began = Instant::now();
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let canary = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let to = canary.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = format!(
                "HTTP/1.1 307 Moved\r\nlocation: http://{to}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let desk = Desk::new([open(McpServer::http("docs", url))]);
    desk.until(|desk| desk.assistant.tools().sources()[0].state.as_str() == "unavailable").await;
    let seen = tokio::time::timeout(Duration::from_millis(200), canary.accept()).await;
    assert!(seen.is_err(), "the canary was asked");
}

#[tokio::test]
async fn a_detachment_ends_the_calls_that_are_under_way() {
    let server = open(McpServer::stdio("proc", &stdio_server::command("hang")));
    let desk = Desk::new([server]).ready().await;
    let began = Instant::now();
    let detach = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(desk.assistant.tools().detach("proc"));
    };
    let (result, ()) = tokio::join!(desk.call("proc_hang"), detach);
    assert!(result.to_string().contains("it may or may not have acted"), "{result}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_call_that_is_refused_as_one_too_many_did_not_run() {
    let server = HttpServer::start(Protocol::new(["busy", "look"]), Lost::NotFound).await;
    let desk = Desk::new([open(McpServer::http("docs", &server.url))]).ready().await;
    let result = desk.call("docs_busy").await.to_string();
    assert!(result.contains("gets too many requests. The call did not run."), "{result}");
    assert!(desk.call("docs_look").await.to_string().contains("look ran"));
    assert_eq!(server.protocol.count("initialize"), 1, "the connection stays");
}

#[tokio::test]
async fn a_message_of_twenty_megabytes_is_an_error() {
    let server = HttpServer::start(Protocol::new(["flood", "look"]), Lost::NotFound).await;
    let desk = Desk::new([
        open(McpServer::http("docs", &server.url)).call_timeout(Duration::from_secs(3)),
        open(McpServer::stdio("proc", &stdio_server::command("flood,look"))),
    ]);
    desk.until(|desk| desk.assistant.tools().names().len() == 4).await;
    for (name, reason) in [("docs", ""), ("proc", "a message of more than 8 MiB")] {
        let began = Instant::now();
        let result = desk.call(&format!("{name}_flood")).await.to_string();
        assert!(result.contains("may or may not have acted") && result.len() < 1000, "{result}");
        assert!(result.contains(reason), "{result}");
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        println!("{name}: {result} after {:?}", began.elapsed());
        assert!(desk.call(&format!("{name}_look")).await.to_string().contains("look ran"));
    }
}

#[tokio::test]
async fn calls_that_hang_do_not_hold_others() {
    let server = HttpServer::start(Protocol::new(["hang", "look"]), Lost::NotFound).await;
    let source = open(McpServer::http("docs", &server.url)).call_timeout(Duration::from_secs(4));
    let desk = Desk::new([source]).ready().await;
    let users: Vec<_> = (0..50).map(|number| format!("user-{number}")).collect();
    let hanging = join_all(users.iter().map(|user| desk.call_as(user, "docs_hang")));
    let looks = async {
        desk.until(|_| server.protocol.calls("hang") >= 16).await;
        let began = Instant::now();
        let result = desk.call_as("ann", "docs_look").await.to_string();
        assert!(result.contains("look ran") && began.elapsed() < SOON, "{result} {:?}", began.elapsed());
    };
    tokio::join!(hanging, looks);
    assert_eq!(server.protocol.calls("hang"), 50);
}
