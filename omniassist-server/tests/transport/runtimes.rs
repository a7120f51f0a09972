//! Tests that connections belong to the runtime that opened them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Barrier};
use std::thread;

use futures_util::future::join_all;
use omniassist_server::testing::FakeEventKind;
use tokio::runtime::{Builder, Handle};

use super::*;

/// Sends a request with the name of a runtime.
fn ask_as(provider: &OpenAiProvider, name: &'static str) -> LlmStream {
    let mut payload = hello();
    payload.model = Some(name.into());
    provider.stream(payload)
}

/// Returns the connections of each name and the number of requests.
fn connections(server: &FakeProvider) -> (BTreeMap<String, BTreeSet<usize>>, usize) {
    let events = server.events();
    let asked = events.iter().filter(|event| event.kind == FakeEventKind::Request);
    let requests = server.requests();
    let mut connections: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (request, event) in requests.iter().zip(asked) {
        let name = request.json()["model"].as_str().unwrap().to_owned();
        connections.entry(name).or_default().insert(event.connection);
    }
    (connections, requests.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn two_runtimes_never_share_a_connection() {
    const ROUNDS: usize = 20;
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("a b END")).chunked_by(EVENT).pace(Duration::from_millis(1)));
    let provider = provider(&server.base_url(), once());
    let together = Arc::new(Barrier::new(2));
    let threads = ["left", "right"].map(|name| {
        let (provider, together) = (provider.clone(), Arc::clone(&together));
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            for round in 0..ROUNDS {
                together.wait();
                // The streams of a round run concurrently. In every other round, one runtime has two of them.
                let streams = if name == "left" && round % 2 == 0 { 2 } else { 1 };
                let all = (0..streams).map(|_| hear(ask_as(&provider, name)));
                for heard in runtime.block_on(join_all(all)) {
                    assert_eq!(heard.said, ["a", "b", "<end>"], "{heard:?}");
                }
            }
            // No runtime ends before the other one has sent its last request.
            together.wait();
        })
    });
    tokio::task::spawn_blocking(move || threads.map(|thread| thread.join().unwrap())).await.unwrap();
    let (connections, requests) = connections(&server);
    assert_eq!(requests, ROUNDS * 5 / 2);
    let (left, right) = (&connections["left"], &connections["right"]);
    assert!(left.is_disjoint(right), "{connections:?}");
    // The connections are still pooled.
    assert!(left.len() + right.len() < ROUNDS, "{connections:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_threads_of_a_runtime_share_a_pool() {
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("hello END")));
    let provider = provider(&server.base_url(), once());
    for _ in 0..10 {
        let asking = (0..8).map(|_| {
            let provider = provider.clone();
            tokio::spawn(async move { hear(ask_as(&provider, "all")).await })
        });
        for heard in join_all(asking).await {
            assert!(heard.unwrap().is_whole());
        }
    }
    let (connections, requests) = connections(&server);
    assert_eq!(requests, 80);
    assert!(connections["all"].len() < 40, "{connections:?}");
}

#[tokio::test]
async fn dropped_providers_leave_no_tasks_in_the_runtime() {
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("hello END")));
    // The tasks of the server.
    let before = Handle::current().metrics().num_alive_tasks();
    for _ in 0..5 {
        let provider = provider(&server.base_url(), once());
        assert!(hear(provider.stream(hello())).await.is_whole());
    }
    let left = async {
        while Handle::current().metrics().num_alive_tasks() > before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), left).await.expect("no tasks must be left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_connections_of_an_ended_runtime_are_not_reused() {
    const RUNTIMES: usize = 12;
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("hello END")));
    let provider = provider(&server.base_url(), once());
    let all = move || {
        for _ in 0..RUNTIMES {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            for _ in 0..2 {
                assert!(runtime.block_on(hear(provider.stream(hello()))).is_whole());
            }
            // One more stream whose answer is incomplete at the end.
            let mut half = provider.stream(hello());
            runtime.block_on(half.next()).unwrap().unwrap();
        }
    };
    tokio::task::spawn_blocking(all).await.unwrap();
    // No request used a dead connection.
    let connections = server.events().iter().map(|event| event.connection).max();
    assert_eq!((connections, server.requests().len()), (Some(RUNTIMES - 1), 3 * RUNTIMES));
}
