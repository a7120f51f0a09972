//! Stops a whole backend, as its supervisor would, while hundreds of its answers are under way.
//!
//! The binary is told by `LISTEN`, `TOKENS`, `SHUTDOWN_SECONDS`, `OPENAI_BASE_URL` and `OPENAI_API_KEY` how to run, says
//! `listening on http://…` first, and has the assistant at `/assistant`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod backend;
mod client;

use std::fs;
use std::time::{Duration, Instant};

use omniassist_server::testing::{FakeProvider, Reply, responses_sse};
use tokio::time::timeout;

use backend::Backend;
use client::Client;

/// Streams that are under way when the process is told to stop; fewer where it may not open so many files.
const STREAMS: usize = 500;
/// With fewer it would be another test.
const LEAST: usize = 100;
/// How long the answers may take then. None of them ends by itself.
const DEADLINE: Duration = Duration::from_secs(2);
/// What a busy machine may take longer.
const SLACK: Duration = Duration::from_secs(20);
/// For everything that is not measured.
const PATIENCE: Duration = Duration::from_secs(120);

/// Has `binary` serve hundreds of answers that do not end, sends it SIGTERM, and sees that it ends in time and that
/// every client was told.
///
/// # Panics
///
/// Where that is not so.
pub fn tells_every_client(binary: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(PATIENCE, stop(binary)).await }).expect("nothing hangs");
}

async fn stop(binary: &str) {
    let streams = affordable();
    assert!(streams >= LEAST, "only {streams} streams fit into the limit of open files");
    let provider = FakeProvider::start().await.unwrap();
    let answer = responses_sse::text(client::SO_FAR).into_bytes();
    let said = memchr::memmem::find(&answer, b"event: response.output_text.done").unwrap();
    provider.otherwise(Reply::sse(answer).stall_after(said));

    let mut backend = Backend::start(binary, &provider.base_url(), streams, DEADLINE).await;
    let mut clients = Vec::new();
    for number in 0..streams {
        clients.push(Client::ask(&backend, number).await);
    }
    for client in &mut clients {
        client.has_begun().await;
    }

    let told = Instant::now();
    backend.terminate().await;
    // All of them read at the same time, as clients do.
    let ends: Vec<_> = clients.into_iter().map(|client| tokio::spawn(client.end())).collect();
    let status = timeout(DEADLINE + SLACK, backend.ended()).await.expect("it ends in time");
    assert!(status.success(), "{status}");
    for end in ends {
        let end = end.await.unwrap();
        assert!(end.contains("server_shutdown"), "{end}");
        assert!(end.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "the response is complete: {end}");
    }
    assert!(told.elapsed() >= DEADLINE, "the answers had their time");
}

/// As many as this process may have, at two sockets each.
fn affordable() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    // Where nothing says, what systems usually allow.
    STREAMS.min(soft.unwrap_or(256).saturating_sub(50) / 2)
}
