//! Hints between servers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_postgres::PostgresStore;
use omniassist_server::store::{Hint, RunId, RunStore, WakeStream, Woken};
use omniassist_test_databases::Postgres;

use crate::database::{connect, new_schema, shared};

async fn next(hints: &mut WakeStream) -> Woken {
    tokio::time::timeout(Duration::from_secs(20), hints.next()).await.unwrap().unwrap()
}

/// Returns the hints that arrive, up to this many.
async fn collect(stream: &mut WakeStream, count: usize) -> Vec<Hint> {
    let mut found = Vec::new();
    while found.len() < count {
        let Woken::Hints(hints) = next(stream).await else { panic!("hints were lost: {found:?}") };
        found.extend(hints);
    }
    found
}

#[tokio::test]
async fn hints_reach_the_servers_of_a_schema() {
    let (schema, other) = (new_schema(), new_schema());
    let (sender, receiver, stranger) =
        (connect(&schema).await, connect(&schema).await, connect(&other).await);
    let (mut here, mut there) = (receiver.hints().unwrap().listen(), stranger.hints().unwrap().listen());
    assert_eq!((next(&mut here).await, next(&mut there).await), (Woken::Missed, Woken::Missed));

    let wake = sender.hints().unwrap();
    let hints: Vec<Hint> = (0..1000).map(|_| Hint::Grown(RunId::random())).collect();
    for hint in &hints {
        wake.wake(&[*hint, *hint]);
    }
    wake.wake(&[Hint::Signalled(RunId::random()), Hint::Free(RunId::random())]);
    let found = collect(&mut here, 1002).await;
    assert_eq!(found.len(), 1002, "each hint arrives once");
    assert!(hints.iter().all(|hint| found.contains(hint)));

    let own = Hint::Free(RunId::random());
    stranger.hints().unwrap().wake(&[own]);
    assert_eq!(collect(&mut there, 1).await, [own], "those of another schema do not arrive");
}

#[tokio::test]
async fn notifications_have_pauses() {
    let schema = new_schema();
    let store = connect(&schema).await;
    let mut hints = store.hints().unwrap().listen();
    assert_eq!(next(&mut hints).await, Woken::Missed);
    let began = std::time::Instant::now();
    let mut notifications = 0;
    while began.elapsed() < Duration::from_millis(400) {
        store.hints().unwrap().wake(&[Hint::Grown(RunId::random())]);
        notifications +=
            i32::from(tokio::time::timeout(Duration::from_millis(1), hints.next()).await.is_ok());
    }
    let most = began.elapsed().as_millis() / 20 + 1;
    assert!(notifications > 0 && notifications as u128 <= most, "{notifications} of at most {most}");
}

#[tokio::test]
async fn a_lost_connection_is_told_and_comes_back() {
    let schema = new_schema();
    let store = connect(&schema).await;
    let mut hints = store.hints().unwrap().listen();
    assert_eq!(next(&mut hints).await, Woken::Missed);
    let cut = format!(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where query = 'listen \"{schema}\"'"
    );
    assert_eq!(Postgres::shared().execute("postgres", &cut), "1");
    assert_eq!(next(&mut hints).await, Woken::Missed);
    let hint = Hint::Grown(RunId::random());
    store.hints().unwrap().wake(&[hint]);
    assert_eq!(collect(&mut hints, 1).await, [hint]);
}

/// A way to the database on which connections can fall silent, as when the machine of the database is gone.
struct Way {
    port: u16,
    fallen: Arc<AtomicU32>,
}

impl Way {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, fallen) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU32::new(0)));
        let seen = Arc::clone(&fallen);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", Postgres::shared().port())).unwrap();
                pass_on(&client, &server, &seen);
                pass_on(&server, &client, &seen);
            }
        });
        Self { port, fallen }
    }

    fn url(&self) -> String {
        let port = Postgres::shared().port().to_string();
        shared().replacen(&port, &self.port.to_string(), 1)
    }

    /// Lets the connections that there are fall silent.
    fn fall_silent(&self) {
        self.fallen.fetch_add(1, Ordering::SeqCst);
    }
}

fn pass_on(from: &TcpStream, to: &TcpStream, fallen: &Arc<AtomicU32>) {
    let (mut from, mut to, fallen) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(fallen));
    let at_first = fallen.load(Ordering::SeqCst);
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if fallen.load(Ordering::SeqCst) == at_first && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn hints_are_sent_again_after_a_connection_has_fallen_silent() {
    let (schema, way) = (new_schema(), Way::new());
    let receiver = connect(&schema).await;
    let mut hints = receiver.hints().unwrap().listen();
    assert_eq!(next(&mut hints).await, Woken::Missed);
    let sender = PostgresStore::options().schema(schema.as_str()).connect(&way.url()).await.unwrap();
    let wake = sender.hints().unwrap();
    let hint = Hint::Grown(RunId::random());
    wake.wake(&[hint]);
    assert_eq!(collect(&mut hints, 1).await, [hint]);

    way.fall_silent();
    wake.wake(&[hint]);
    // The first one is on its way, and can arrive after the other one. A connection that was not open before has no silence.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let other = Hint::Free(RunId::random());
    wake.wake(&[other]);
    let mut found = collect(&mut hints, 1).await;
    if found == [hint] {
        found.extend(collect(&mut hints, 1).await);
    }
    assert!(found.contains(&other) && found.iter().all(|found| [hint, other].contains(found)), "{found:?}");
}
