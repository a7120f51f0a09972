//! Redis crashes, freezes, starts again, or was never there.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_redis::Redis;
use omniassist_server::store::{ConversationStore, KeyStore, MemoryStore, RunStore};
use omniassist_sqlite::SqliteStore;
use omniassist_test_databases::Redis as Server;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::page::{all, ask, numbers, read_until, stored, text, watch};
use crate::tail::two;

/// Watches an answer of about eight seconds on another server while something happens to Redis.
async fn whatever_happens(server: Server, happens: impl FnOnce(&Server) + Send + 'static) {
    whatever_happens_on(MemoryStore::new(), server, happens).await;
}

async fn whatever_happens_on<S: RunStore + ConversationStore + KeyStore + Clone>(
    store: S,
    server: Server,
    happens: impl FnOnce(&Server) + Send + 'static,
) {
    let redis = Redis::connect(&server.url()).unwrap();
    let (first, other) = two(&store, &redis, numbers(400, Duration::from_millis(20)));
    let mut own = ask(&first, "c").await;
    read_until(&mut own, "orange-5 ").await;
    let mut viewer = watch(&other, "c").await;
    let mut seen = read_until(&mut viewer, "orange-30 ").await;
    let happened = spawn_blocking(move || {
        happens(&server);
        server
    });
    let late = tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        text(watch(&other, "c").await).await
    });
    seen.extend(read_until(&mut viewer, "data: [DONE]").await);
    let seen: String = seen.iter().map(|(delta, _)| delta.as_str()).collect();
    assert_eq!(seen, all(400));
    assert_eq!(late.await.unwrap(), all(400));
    assert_eq!(stored(&store, "c").await, all(400));
    drop(happened.await.unwrap());
}

fn pause(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_crashes() {
    whatever_happens(Server::start(), Server::crash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_starts_again() {
    let again = |server: &Server| {
        server.crash();
        pause(2);
        server.resume();
    };
    whatever_happens(Server::start(), again).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_freezes() {
    let freeze = |server: &Server| {
        server.signal("STOP");
        pause(5);
        server.signal("CONT");
    };
    whatever_happens(Server::start(), freeze).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_loses_its_content() {
    let flush = |server: &Server| {
        for _ in 0..30 {
            server.execute(&["flushall"]);
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    whatever_happens(Server::start(), flush).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_cuts_its_clients() {
    let cut = |server: &Server| {
        for _ in 0..20 {
            server.execute(&["client", "kill", "type", "normal"]);
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    whatever_happens(Server::start(), cut).await;
}

/// A store without hints of its own.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_a_file_is_whole_when_redis_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("assistant.db")).unwrap();
    whatever_happens_on(store, Server::start(), Server::crash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_without_redis() {
    let server = Server::start();
    server.crash();
    whatever_happens(server, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_when_redis_has_no_room() {
    let full = |server: &Server| {
        server.execute(&["config", "set", "maxmemory", "1"]);
        pause(2);
        server.execute(&["config", "set", "maxmemory", "0"]);
    };
    whatever_happens(Server::start(), full).await;
}

/// The lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The runtime has one thread, whose log the test reads.
#[tokio::test]
async fn an_outage_is_logged_once() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    // With one subscriber alone, a record that another test writes first is decided by the thread of that test, and stays off.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let again = |server: &Server| {
        // Records that other tests wrote before are decided again.
        tracing::callsite::rebuild_interest_cache();
        server.crash();
        pause(3);
        server.resume();
    };
    whatever_happens(Server::start(), again).await;
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for line in ["Redis does not work", "Redis works again"] {
        // Two servers log it.
        assert_eq!(log.matches(line).count(), 2, "{log}");
    }
}
