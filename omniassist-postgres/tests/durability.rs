//! The loss of writes when the database crashes.

use std::time::Duration;

use omniassist_postgres::PostgresStore;
use omniassist_server::store::{
    Appended, Begun, Durability, InstanceId, NewRun, RunId, RunStore, Scope, Segment, SegmentKind, TailOf,
    Writer,
};
use omniassist_test_databases::Postgres;

async fn append(store: &PostgresStore, writer: Writer, pos: u32, how: Durability) {
    let segment = Segment::new(writer, pos, SegmentKind::Text, pos, "text");
    let answers = store.append(&[segment], how).await.unwrap();
    assert!(matches!(answers[..], [Appended::Taken(_)]));
}

async fn positions(store: &PostgresStore, writer: Writer) -> Vec<u32> {
    let tails = store.read(&[TailOf::new(Scope::new("alice"), writer.run, 0)], usize::MAX).await.unwrap();
    tails[0].as_ref().unwrap().segments.iter().map(|segment| segment.pos).collect()
}

/// Begins a run, appends with these durabilities, crashes the database, and returns the positions that are there.
async fn after_a_crash(postgres: &Postgres, url: &str, soft_writes: bool, writes: &[Durability]) -> Vec<u32> {
    let slow = Duration::from_secs(60);
    let options = PostgresStore::options().soft_writes(soft_writes).timeout(slow).connect_timeout(slow);
    let store = options.connect(url).await.unwrap();
    let new =
        NewRun::new(RunId::random(), Scope::new("alice"), RunId::random().to_string(), InstanceId::random());
    let Begun::Started(writer) = store.begin(&new).await.unwrap() else { panic!("a new run") };
    for (how, pos) in writes.iter().zip(2..) {
        append(&store, writer, pos, *how).await;
    }
    postgres.crash();
    postgres.resume();
    positions(&store, writer).await
}

/// The server writes its log by itself once in ten seconds, so that the test does not depend on its speed.
#[tokio::test]
async fn a_crash_loses_soft_writes_after_the_last_hard_one() {
    use Durability::{Hard, Soft};
    let postgres = Postgres::start(&["wal_writer_delay=10s"]);
    let url = postgres.create_database();
    assert_eq!(after_a_crash(&postgres, &url, true, &[Soft]).await, [1]);
    assert_eq!(after_a_crash(&postgres, &url, true, &[Soft, Hard, Soft]).await, [1, 2, 3]);
    assert_eq!(after_a_crash(&postgres, &url, true, &[Hard]).await, [1, 2]);
    assert_eq!(after_a_crash(&postgres, &url, false, &[Soft]).await, [1, 2]);
}

/// The setting of the database is not that of a transaction that must not be lost.
#[tokio::test]
async fn a_hard_write_is_hard_whatever_the_database_is_set_to() {
    let postgres = Postgres::start(&["wal_writer_delay=10s", "synchronous_commit=off"]);
    let url = postgres.create_database();
    assert_eq!(after_a_crash(&postgres, &url, true, &[Durability::Hard]).await, [1, 2]);
}
