//! Hints between servers.

use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::store::{Hint, RunId, RunStore, WakeStream, Woken};
use omniassist_test_databases::Postgres;

use crate::database::{connect, new_schema};

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
