//! Many connections to a server, one after the other, which leave nothing.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use omniassist_mcp::client::McpServer;

use super::http_server::{HttpServer, Lost};
use super::protocol::Protocol;
use super::{Desk, open};

const CYCLES: usize = 1_000;

/// The cycles after which the first count is made.
const WARM: usize = 100;

/// Holds the kind of the servers of a host that counts.
const KIND: &str = "HOSTILE_CYCLES";

/// A server that starts within some milliseconds.
const SHELL: &str = r#"
while read -r line; do
    id=${line#*\"id\":}; id=${id%%[,\}]*}
    case $line in
        *'"server/discover"'*) answer='"error":{"code":-32601,"message":"no such method"}';;
        *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}';;
        *'"tools/list"'*) answer='"result":{"tools":[{"name":"look","description":"Looks","inputSchema":{"type":"object"}}]}';;
        *'"tools/call"'*) answer='"result":{"content":[{"type":"text","text":"look ran"}]}';;
        *) continue;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done"#;

/// What this process has.
#[derive(Debug)]
struct Held {
    descriptors: usize,
    threads: usize,
    children: usize,
    kilobytes: u64,
}

impl Held {
    /// Counts when the children have ended, or after 5 s.
    async fn at_rest() -> Self {
        let began = Instant::now();
        while children() > 0 && began.elapsed() < Duration::from_secs(5) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: fs::read_dir("/proc/self/task").unwrap().count(),
            children: children(),
            kilobytes: resident.split_whitespace().next().unwrap().parse().unwrap(),
        }
    }
}

/// Returns the number of processes that this one has started, with those that have ended and were not waited for.
fn children() -> usize {
    let own = std::process::id().to_string();
    let is_child = |folder: &std::path::Path| {
        let status = fs::read_to_string(folder.join("stat")).unwrap_or_default();
        status
            .rsplit_once(')')
            .is_some_and(|(_, fields)| fields.split_whitespace().nth(1) == Some(own.as_str()))
    };
    fs::read_dir("/proc").unwrap().filter(|entry| is_child(&entry.as_ref().unwrap().path())).count()
}

/// Is not a test: a host that connects and disconnects, and counts what it has.
#[tokio::test]
async fn host() {
    let Ok(kind) = std::env::var(KIND) else { return };
    let server = HttpServer::start(Protocol::new(["look"]), Lost::NotFound).await;
    let desk = Desk::new([] as [McpServer; 0]);
    let mut warm = None;
    for number in 1..=CYCLES {
        let source = if kind == "http" {
            McpServer::http("docs", &server.url)
        } else {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", SHELL]);
            McpServer::stdio("docs", &shell)
        };
        desk.assistant.tools().attach(open(source)).unwrap();
        desk.until(|desk| !desk.assistant.tools().names().is_empty()).await;
        if number % WARM == 0 {
            assert!(desk.call("docs_look").await.to_string().contains("look ran"));
        }
        assert!(desk.assistant.tools().detach("docs"));
        server.protocol.forget();
        if number == WARM {
            warm = Some(Held::at_rest().await);
        }
    }
    let (warm, end) = (warm.unwrap(), Held::at_rest().await);
    println!("{kind}: {warm:?} after {WARM} connections, {end:?} after {CYCLES}");
    assert_eq!((warm.children, end.children), (0, 0));
    assert!(end.descriptors <= warm.descriptors + 4 && end.threads <= warm.threads + 1);
    assert!(end.kilobytes <= warm.kilobytes + (8 << 10));
}

fn assert_nothing_is_left(kind: &str) {
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args(["client::cycles::host", "--exact", "--nocapture"]).env(KIND, kind);
    let output = host.output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{told}");
    assert!(output.status.success() && told.contains("after 1000"), "{told}{errors}");
}

#[test]
fn a_thousand_processes_leave_nothing() {
    assert_nothing_is_left("stdio");
}

#[test]
fn a_thousand_connections_leave_nothing() {
    assert_nothing_is_left("http");
}
