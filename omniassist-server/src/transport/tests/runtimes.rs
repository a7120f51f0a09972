//! Connections belong to the runtime that opened them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};

use super::super::clients::Clients;
use super::super::sender::client;
use super::*;
use crate::testing::FakeEventKind;

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn transport(server: &FakeProvider) -> Transport {
    let mut limits = limits();
    limits.max_retries = 0;
    Transport::new(limits, &server.base_url(), &[]).unwrap()
}

/// Asks in the name of a runtime.
fn ask_as(transport: &Transport, base_url: &str, name: &str) -> LlmStream {
    let request = request(&format!("{base_url}/{name}"));
    transport.stream(request, || Box::new(Lines::default()), read_error)
}

/// The connections over which each name has asked, and how many requests there were.
fn connections(server: &FakeProvider) -> (BTreeMap<String, BTreeSet<usize>>, usize) {
    let events = server.events();
    let asked = events.iter().filter(|event| event.kind == FakeEventKind::Request);
    let requests = server.requests();
    let mut connections: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (request, event) in requests.iter().zip(asked) {
        let name = request.path.split('/').rev().nth(1).unwrap().to_owned();
        connections.entry(name).or_default().insert(event.connection);
    }
    (connections, requests.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn two_runtimes_never_share_a_connection() {
    const ROUNDS: usize = 20;
    let server = serve([]).await;
    server.otherwise(Reply::sse("a\nb\nEND\n").chunked_by(2).pace(Duration::from_millis(1)));
    let (transport, base_url) = (transport(&server), server.base_url());
    let together = Arc::new(Barrier::new(2));
    let threads = ["left", "right"].map(|name| {
        let (transport, base_url, together) = (transport.clone(), base_url.clone(), Arc::clone(&together));
        thread::spawn(move || {
            let runtime = one_thread();
            for round in 0..ROUNDS {
                together.wait();
                // The streams of a round run beside each other, and every other round one runtime has two.
                let streams = if name == "left" && round % 2 == 0 { 2 } else { 1 };
                let all = (0..streams).map(|_| hear(ask_as(&transport, &base_url, name)));
                for heard in runtime.block_on(join_all(all)) {
                    assert_eq!(heard.said, ["a", "b", "<end>"], "{heard:?}");
                }
            }
            // Neither ends before the other has asked for the last time.
            together.wait();
        })
    });
    tokio::task::spawn_blocking(move || threads.map(|thread| thread.join().unwrap())).await.unwrap();
    let (connections, requests) = connections(&server);
    assert_eq!(requests, ROUNDS * 5 / 2);
    let (left, right) = (&connections["left"], &connections["right"]);
    assert!(left.is_disjoint(right), "{connections:?}");
    // Pooled, all the same.
    assert!(left.len() + right.len() < ROUNDS, "{connections:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_threads_of_a_runtime_share_a_pool() {
    let server = serve([]).await;
    server.otherwise(Reply::sse("hello\nEND\n"));
    let (transport, base_url) = (transport(&server), server.base_url());
    for _ in 0..10 {
        let asking = (0..8).map(|_| {
            let (transport, base_url) = (transport.clone(), base_url.clone());
            tokio::spawn(async move { hear(ask_as(&transport, &base_url, "all")).await })
        });
        for heard in join_all(asking).await {
            assert!(heard.unwrap().is_whole());
        }
        assert_eq!(transport.shared.clients.runtimes(), 1);
    }
    let (connections, requests) = connections(&server);
    assert_eq!(requests, 80);
    assert!(connections["all"].len() < 40, "{connections:?}");
}

#[test]
fn threads_that_come_first_at_the_same_time_get_one_client() {
    let (made, both) = (AtomicUsize::new(0), Barrier::new(2));
    let recipe = move || {
        if made.fetch_add(1, Ordering::Relaxed) > 0 {
            both.wait();
        }
        client(&Limits::default()).no_proxy()
    };
    let clients = Clients::new(recipe).unwrap();
    let (early, late) = (one_thread(), one_thread());
    clients.of(early.handle());
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| clients.of(late.handle()));
        }
    });
    assert_eq!(clients.runtimes(), 2);
    drop((early, late));
    assert_eq!(clients.runtimes(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_runtime_that_has_ended_leaves_nothing_behind() {
    const RUNTIMES: usize = 12;
    let server = serve([]).await;
    server.otherwise(Reply::sse("hello\nEND\n"));
    let (transport, base_url) = (transport(&server), server.base_url());
    let asking = transport.clone();
    let all = move || {
        for _ in 0..RUNTIMES {
            let runtime = one_thread();
            for _ in 0..2 {
                let heard = runtime.block_on(hear(ask_as(&asking, &base_url, "ending")));
                assert!(heard.is_whole(), "{heard:?}");
            }
            // One more whose answer is under way at the end.
            let mut half = ask_as(&asking, &base_url, "ending");
            runtime.block_on(half.next()).unwrap().unwrap();
            assert_eq!(asking.shared.clients.runtimes(), 1);
            drop(runtime);
            assert_eq!(asking.shared.clients.runtimes(), 0);
        }
    };
    tokio::task::spawn_blocking(all).await.unwrap();
    let (connections, requests) = connections(&server);
    // No request went out on a connection that had died.
    assert_eq!((connections["ending"].len(), requests), (RUNTIMES, 3 * RUNTIMES));
    assert_eq!(transport.shared.clients.runtimes(), 0);
}

#[tokio::test]
async fn a_runtime_outlives_its_transports_without_a_trace() {
    let server = serve([]).await;
    server.otherwise(Reply::sse("hello\nEND\n"));
    // The server's.
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for _ in 0..5 {
        let transport = transport(&server);
        assert!(hear(ask_as(&transport, &server.base_url(), "short")).await.is_whole());
    }
    let left = async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), left).await.expect("tasks are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn where_no_other_client_can_be_made_the_first_serves() {
    let server = serve([]).await;
    server.otherwise(Reply::sse("hello\nEND\n"));
    let made = AtomicUsize::new(0);
    let recipe = move || {
        let client = client(&Limits::default()).no_proxy();
        // As in a process that has locked itself in: what a client needs is not there any more.
        if made.fetch_add(1, Ordering::Relaxed) == 0 { client } else { client.user_agent("\n") }
    };
    let transport = Transport::with_clients(limits(), recipe, true).unwrap();
    let base_url = server.base_url();
    assert!(hear(ask_as(&transport, &base_url, "first")).await.is_whole());
    let other = thread::spawn({
        let transport = transport.clone();
        move || {
            let runtime = one_thread();
            assert!(runtime.block_on(hear(ask_as(&transport, &base_url, "other"))).is_whole());
            assert_eq!(transport.shared.clients.runtimes(), 2);
        }
    });
    tokio::task::spawn_blocking(move || other.join().unwrap()).await.unwrap();
    assert_eq!(transport.shared.clients.runtimes(), 1);
}
