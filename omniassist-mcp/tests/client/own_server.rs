//! Our own server over standard input and output: `examples/stdio.rs`.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use omniassist_mcp::client::{McpBody, McpServer};
use omniassist_server::Principal;
use serde_json::{Value, json};

use super::{Desk, open};

/// Returns the program of the example, which cargo builds beside the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().with_file_name("examples").join("stdio");
    assert!(program.exists(), "run `cargo build --example stdio`: {}", program.display());
    program
}

/// Sends lines to a server and then ends its input. Returns its answers, and `true` if it ended without an error.
fn exchange(lines: &[Vec<u8>]) -> (Vec<Value>, bool) {
    let mut server = Command::new(program())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    for line in lines {
        let sent = input.write_all(line).and_then(|()| input.write_all(b"\n"));
        if sent.is_err() {
            break;
        }
    }
    drop(input);
    let answers = BufReader::new(server.stdout.take().unwrap()).lines();
    let answers = answers.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    (answers, server.wait().unwrap().success())
}

fn request(id: u32, method: &str, params: &Value) -> Vec<u8> {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string().into_bytes()
}

#[tokio::test]
async fn our_client_and_our_server_speak_over_stdio() {
    let desk_server = Arc::new(open(McpServer::stdio("desk", &Command::new(program()))));
    let desk = Desk::new([Arc::clone(&desk_server)]).ready().await;
    let total = desk.call(r#"desk_total {"number": 7}"#).await.to_string();
    assert!(total.contains("Order 7 costs 3 €."), "{total}");
    let refused = desk.call(r#"desk_refund {"number": 7}"#).await.to_string();
    assert!(!refused.contains("Order 7 is refunded"), "{refused}");

    let user = Principal::anonymous();
    let read = desk_server.read(&user, "desk://orders/a%20b").await.unwrap();
    assert_eq!(read[0].body, McpBody::Text("Order a b: tea".to_owned()));
    let prompt = desk_server.prompt(&user, "reply", [("name".to_owned(), "Eve".to_owned())]).await.unwrap();
    assert_eq!(prompt[0].text, "Write a friendly answer to Eve.");
    assert!(desk_server.prompt(&user, "reply", []).await.is_err());
}

#[test]
fn lines_that_are_no_messages_are_answered_and_the_server_goes_on() {
    let huge = |bytes: usize| {
        let line =
            request(2, "tools/call", &json!({ "name": "total", "arguments": { "number": 1, "x": "" } }));
        let line = String::from_utf8(line).unwrap();
        line.replace("\"x\":\"\"", &format!("\"x\":\"{}\"", "x".repeat(bytes - line.len()))).into_bytes()
    };
    let most = omniassist_server::core::Limits::default().max_body_bytes;
    let call = request(9, "tools/call", &json!({ "name": "total", "arguments": { "number": 1 } }));
    let lines = [
        request(1, "tools/list", &json!({})),
        b"{".to_vec(),
        b"\xff".to_vec(),
        b"".to_vec(),
        [b"[", call.as_slice(), b"]"].concat(),
        format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        huge(most),
        huge(most + 1),
        request(3, "admin/reload", &json!({})),
        br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}"#.to_vec(),
        call,
    ];
    let (answers, is_success) = exchange(&lines);
    assert!(is_success);
    let without_id = answers.iter().filter(|answer| answer["id"].is_null()).count();
    assert_eq!(without_id, 5, "{answers:?}");
    let of = |id: u32| answers.iter().find(|answer| answer["id"] == id).unwrap_or(&Value::Null);
    assert!(of(1)["result"]["tools"].is_array());
    assert!(of(2)["result"]["content"].is_array(), "a line as long as allowed is read: {}", of(2));
    assert_eq!(of(3)["error"]["code"], -32601);
    assert_eq!(of(4)["error"]["code"], -32600);
    assert_eq!(of(9)["result"]["content"][0]["text"], "Order 1 costs 3 €.");
    assert_eq!(answers.len(), 5 + 5);
}

#[test]
fn an_input_that_ends_at_once_ends_the_server() {
    let (answers, is_success) = exchange(&[]);
    assert!(answers.is_empty() && is_success);
}
