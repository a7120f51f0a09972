//! The clients of runtimes that have ended, and of those for which no client can be made.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Runtime};

use super::super::clients::Clients;
use super::super::sender::client;
use super::*;

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn transport(server: &FakeProvider) -> Transport {
    Transport::new(limits(), &server.base_url().parse().unwrap(), &[]).unwrap()
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
                let heard = runtime.block_on(hear(ask_on(&asking, &base_url)));
                assert!(heard.error.is_none(), "{heard:?}");
            }
            // One more whose answer is under way at the end.
            let mut half = ask_on(&asking, &base_url);
            runtime.block_on(half.next()).unwrap().unwrap();
            assert_eq!(asking.shared.clients.runtimes(), 1);
            drop(runtime);
            assert_eq!(asking.shared.clients.runtimes(), 0);
        }
    };
    tokio::task::spawn_blocking(all).await.unwrap();
    // No request went out on a connection that had died.
    let connections = server.events().iter().map(|event| event.connection).max();
    assert_eq!((connections, server.requests().len()), (Some(RUNTIMES - 1), 3 * RUNTIMES));
    assert_eq!(transport.shared.clients.runtimes(), 0);
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
    assert!(hear(ask_on(&transport, &base_url)).await.error.is_none());
    let other = thread::spawn({
        let transport = transport.clone();
        move || {
            let runtime = one_thread();
            assert!(runtime.block_on(hear(ask_on(&transport, &base_url))).error.is_none());
            assert_eq!(transport.shared.clients.runtimes(), 2);
        }
    });
    tokio::task::spawn_blocking(move || other.join().unwrap()).await.unwrap();
    assert_eq!(transport.shared.clients.runtimes(), 1);
}
