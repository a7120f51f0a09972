//! Servers from PyPI, over stdio. Their Python is that of `cargo xtask test rust`.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use omniassist_mcp::client::McpServer;

use super::{Desk, open};

/// The environment with the servers, below the target folder.
const ENVIRONMENT: &str = "python/mcp-servers";

/// Returns a command with these arguments for Python.
fn python<S: Into<OsString>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join(ENVIRONMENT).join("bin/python");
    assert!(
        python.exists(),
        "the MCP servers from PyPI are missing: `cargo xtask test rust` installs them and runs all Rust tests, and \
         `python3 -m venv {environment} && {python} -m pip install -r tests/mcp/servers/requirements.txt` only installs them",
        environment = target.join(ENVIRONMENT).display(),
        python = python.display(),
    );
    let mut command = Command::new(python);
    command.args(arguments.into_iter().map(Into::into));
    command
}

async fn desk(name: &'static str, command: &Command) -> Desk {
    let desk = Desk::new([open(McpServer::stdio(name, command))]).ready().await;
    let sources = desk.assistant.tools().sources();
    println!(
        "{name}: {} tools {:?}, withheld {:?}",
        sources[0].tools.len(),
        sources[0].tools,
        sources[0].withheld
    );
    desk
}

#[tokio::test]
async fn mcp_server_time() {
    let command = python(["-m", "mcp_server_time"]);
    let desk = desk("time", &command).await;
    let now = desk.call(r#"time_get_current_time {"timezone": "Asia/Tokyo"}"#).await.to_string();
    assert!(now.contains("+09:00"), "{now}");
    let arguments = r#"{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#;
    let there = desk.call(&format!("time_convert_time {arguments}")).await.to_string();
    assert!(there.contains("T21:00:00+09:00"), "{there}");
    let unknown = desk.call(r#"time_get_current_time {"timezone": "Mars/North"}"#).await.to_string();
    assert!(unknown.contains("Mars/North") && unknown.contains(r#""is_error":true"#), "{unknown}");
    assert_eq!(desk.assistant.tools().sources()[0].tools.len(), 2);
}

#[tokio::test]
async fn mcp_server_fetch() {
    let command = python(["-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"]);
    let page = || async { ([(CONTENT_TYPE, "text/plain")], "Opens at nine.") };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hours", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/hours", get(page))).await });
    let desk = desk("fetch", &command).await;
    let read = desk.call(&format!(r#"fetch_fetch {{"url": "{url}", "raw": true}}"#)).await.to_string();
    assert!(read.contains("Opens at nine."), "{read}");
    assert_eq!(desk.assistant.tools().sources()[0].tools.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_written_with_fastmcp() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/mcp/servers/notes.py");
    let command = python([script]);
    let desk = desk("notes", &command).await;
    let kept = desk.call(r#"notes_keep {"text": "call Ann"}"#).await.to_string();
    assert!(kept.contains("number") && kept.contains("call Ann"), "{kept}");
    let found = desk.call(r#"notes_find {"word": "Ann"}"#).await.to_string();
    assert!(found.contains("call Ann"), "{found}");
    let count = desk.call("notes_count").await.to_string();
    assert!(count.contains('1'), "{count}");
    let failed = desk.call("notes_fail").await.to_string();
    assert!(failed.contains("there are no notes") && failed.contains(r#""is_error":true"#), "{failed}");
    assert_eq!(desk.assistant.tools().sources()[0].tools.len(), 4);
}
