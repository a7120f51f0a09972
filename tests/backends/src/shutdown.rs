//! The shutdown of a backend while hundreds of answers are under way.

use std::cell::Cell;
use std::env::temp_dir;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use omniassist_server::testing::{FakeProvider, Reply, responses_sse};
use serde_json::Value;
use tokio::time::timeout;

use crate::backend::Backend;
use crate::client::{self, Client, token};

/// The number of streams that are under way at the shutdown. A low limit of open files reduces it.
const STREAMS: usize = 500;
/// The smallest number of streams with which the test is meaningful.
const LEAST: usize = 100;
/// Time limit for the answers at shutdown. None of them ends by itself.
const DEADLINE: Duration = Duration::from_secs(2);
/// Additional time for a busy machine.
const SLACK: Duration = Duration::from_secs(20);

/// Lets `binary` serve hundreds of endless answers, and sends it SIGTERM. It must end in time, and send every client
/// the reason.
///
/// # Panics
///
/// Panics if it does not end in time, or if a client does not receive the reason.
pub fn tells_every_client(binary: &str) {
    crate::in_time(async {
        stop(binary, None).await;
    });
}

/// Does the same with a backend that writes an audit log. The file must contain two lines for each answer.
///
/// # Panics
///
/// Panics in the same cases, and if the file has other lines.
pub fn tells_every_client_and_the_audit_file(binary: &str) {
    let path = temp_dir().join(format!("omniassist-backend-{}.jsonl", std::process::id()));
    let streams = Cell::new(0);
    crate::in_time(async { streams.set(stop(binary, Some(&path)).await) });
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    fs::remove_file(&path).unwrap();
    let count = |key: &str, value: &str| lines.iter().filter(|line| line[key] == value).count();
    assert_eq!(count("action", "run_started"), streams.get());
    assert_eq!(count("outcome", "server_shutdown"), streams.get());
    assert_eq!(lines.len(), 2 * streams.get());
}

async fn stop(binary: &str, audit: Option<&Path>) -> usize {
    let streams = affordable();
    assert!(streams >= LEAST, "only {streams} streams fit into the limit of open files");
    let provider = FakeProvider::start().await.unwrap();
    let answer = responses_sse::text(client::SO_FAR).into_bytes();
    let said = memchr::memmem::find(&answer, b"event: response.output_text.done").unwrap();
    provider.otherwise(Reply::sse(answer).stall_after(said));

    // One user for each stream, since a user may have only a few.
    let users: Vec<String> = (0..streams).map(|number| format!("user{number}={}", token(number))).collect();
    let users = users.join(",");
    let mut backend = Backend::start_with(binary, &provider.base_url(), &users, DEADLINE, audit).await;
    let mut clients = Vec::new();
    for number in 0..streams {
        clients.push(Client::ask(&backend, number).await);
    }
    for client in &mut clients {
        client.has_begun().await;
    }

    let told = Instant::now();
    backend.terminate().await;
    // All clients read at the same time.
    let ends: Vec<_> = clients.into_iter().map(|client| tokio::spawn(client.end())).collect();
    let status = timeout(DEADLINE + SLACK, backend.ended()).await.expect("the backend ends in time");
    assert!(status.success(), "{status}");
    for end in ends {
        let end = end.await.unwrap();
        assert!(end.contains("server_shutdown"), "{end}");
        assert!(end.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "the response is complete: {end}");
    }
    assert!(told.elapsed() >= DEADLINE, "the answers had time until the deadline");
    streams
}

/// Returns the number of streams that this process may open, with two sockets for each.
fn affordable() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    // Without a known limit, the usual one is assumed.
    STREAMS.min(soft.unwrap_or(256).saturating_sub(50) / 2)
}
