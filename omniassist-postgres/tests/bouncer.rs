//! A pooler between transactions, through which each transaction may have another connection.

use omniassist_server::testing::store;
use omniassist_test_databases::{PgBouncer, Postgres};

use crate::database::{Schemas, shared};

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_passes_through_pgbouncer() {
    let database = shared().rsplit_once('/').unwrap().1;
    let bouncer = PgBouncer::start(Postgres::shared(), 3);
    let schemas = Schemas::at(bouncer.url(database));
    store::all(&schemas).await;
    store::keys::all(&schemas).await;
}
