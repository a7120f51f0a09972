//! A pooler between transactions, through which each transaction may have another connection.

use std::process::Command;
use std::time::{Duration, Instant};

use omniassist_postgres::PostgresStore;
use omniassist_server::store::{
    Appended, Durability, InstanceId, RunId, RunStore, Segment, SegmentKind, Writer,
};
use omniassist_server::testing::store::{self, Factory};
use omniassist_test_databases::{PgBouncer, Postgres};
use tokio::time::sleep;

use crate::database::{Schemas, connect_at, new_schema, shared};

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_passes_through_pgbouncer() {
    let database = shared().rsplit_once('/').unwrap().1;
    let bouncer = PgBouncer::start(Postgres::shared(), 3);
    let schemas = Schemas::at(bouncer.url(database));
    store::all(&schemas).await;
    store::keys::all(&schemas).await;
}

/// The application's own connections through the pooler get those that a store has used.
#[tokio::test]
async fn no_setting_outlasts_its_transaction() {
    let database = shared().rsplit_once('/').unwrap().1;
    let bouncer = PgBouncer::start(Postgres::shared(), 1);
    let store = Factory::create(&Schemas::at(bouncer.url(database))).await;
    let writer = Writer { run: RunId::random(), epoch: 1, instance: InstanceId::random() };
    let segment = Segment::new(writer, 1, SegmentKind::Text, 1, "text");
    assert_eq!(store.append(&[segment], Durability::Soft).await.unwrap(), [Appended::Gone]);
    let settings = "select current_setting('synchronous_commit'), current_setting('statement_timeout'),
         current_setting('idle_in_transaction_session_timeout')";
    let psql =
        Command::new("psql").args(["-XqAt", "-c", settings]).arg(bouncer.url(database)).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&psql.stdout), "on|0|0\n", "{psql:?}");
}

/// The pooler passes no notification, which a server finds out by one of its own.
#[tokio::test]
async fn a_server_that_hears_no_notification_knows_it() {
    let (schema, database) = (new_schema(), shared().rsplit_once('/').unwrap().1);
    let bouncer = PgBouncer::start(Postgres::shared(), 3);
    let deaf = connect_at(&bouncer.url(database), &schema).await.hints().unwrap();
    let options = PostgresStore::options().schema(schema.as_str()).listener_url(shared());
    let hearing = options.connect(&bouncer.url(database)).await.unwrap().hints().unwrap();
    let _streams = [deaf.listen(), hearing.listen()];
    let began = Instant::now();
    while deaf.arrives() {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not know");
        sleep(Duration::from_millis(50)).await;
    }
    assert!(began.elapsed() >= Duration::from_secs(2), "it waits for its notification");
    sleep(Duration::from_secs(2)).await;
    assert!(hearing.arrives());
}
