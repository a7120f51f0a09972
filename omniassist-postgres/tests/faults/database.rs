//! Failures of the server, and of the pooler before it.

use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use omniassist_server::store::{RunId, RunStore, Scope, Which};
use omniassist_test_databases::{PgBouncer, Postgres};

use super::shop::{self, Fault};

struct Restarted {
    postgres: Postgres,
    /// The signal that stops the server.
    signal: &'static str,
}

impl Fault for Restarted {
    fn begin(&self) {
        self.postgres.signal(self.signal);
    }

    fn end(&self) {
        self.postgres.crash();
        self.postgres.resume();
    }

    fn url(&self) -> String {
        self.postgres.url("postgres")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_restart() {
    shop::check(Restarted { postgres: Postgres::start(&[]), signal: "INT" }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_crash() {
    shop::check(Restarted { postgres: Postgres::start(&[]), signal: "QUIT" }).await;
}

/// The pooler ends, and all connections of the store with it.
struct PoolerRestarted {
    postgres: Postgres,
    bouncer: PgBouncer,
}

impl Fault for PoolerRestarted {
    fn begin(&self) {
        self.bouncer.crash();
    }

    fn end(&self) {
        self.bouncer.resume();
    }

    fn url(&self) -> String {
        let _ = &self.postgres;
        self.bouncer.url("postgres")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_restart_of_the_pooler() {
    let postgres = Postgres::start(&[]);
    let bouncer = PgBouncer::start(&postgres, 4);
    shop::check(PoolerRestarted { postgres, bouncer }).await;
}

/// Writes are refused, as after the database has become a standby.
struct ReadOnly(Postgres);

impl ReadOnly {
    fn set(&self, value: &str) {
        let set = format!("alter system set default_transaction_read_only = {value}");
        self.0.execute("postgres", &set);
        self.0.execute("postgres", "select pg_reload_conf()");
        while self.0.execute("postgres", "show default_transaction_read_only") != value {
            sleep(Duration::from_millis(10));
        }
    }
}

impl Fault for ReadOnly {
    fn begin(&self) {
        self.set("on");
    }

    fn end(&self) {
        self.set("off");
    }

    fn url(&self) -> String {
        self.0.url("postgres")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_database_that_only_can_be_read() {
    shop::check(ReadOnly(Postgres::start(&[]))).await;
}

/// Another program holds a lock on a table.
struct Locked {
    postgres: Postgres,
    other: Mutex<Option<Child>>,
}

impl Locked {
    fn is_held(&self) -> bool {
        let is_held = "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted
             and relation = 'omniassist.segment'::regclass";
        self.postgres.execute("postgres", is_held) == "1"
    }
}

impl Fault for Locked {
    fn begin(&self) {
        let lock = "begin; lock table omniassist.segment in access exclusive mode; select pg_sleep(60)";
        let mut psql = Command::new("psql");
        psql.args(["-Xq", "-c", lock]).arg(self.url()).stdout(Stdio::null()).stderr(Stdio::null());
        *self.other.lock().unwrap() = Some(psql.spawn().unwrap());
        while !self.is_held() {
            sleep(Duration::from_millis(10));
        }
    }

    fn end(&self) {
        let unlock = "select pg_cancel_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)'";
        self.postgres.execute("postgres", unlock);
        self.other.lock().unwrap().take().unwrap().wait().unwrap();
    }

    fn url(&self) -> String {
        self.postgres.url("postgres")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_table_that_is_locked() {
    shop::check(Locked { postgres: Postgres::start(&[]), other: Mutex::default() }).await;
}

/// A server goes on with the statement of a client that is gone, unless somebody ends it.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_given_up_ends_in_the_database_too() {
    let locked = Locked { postgres: Postgres::start(&[]), other: Mutex::default() };
    let store = shop::connect(&locked.url()).await;
    locked.begin();
    let (scope, run) = (Scope::new("ada"), RunId::random());
    for _ in 0..3 {
        let found = store.find(&scope, Which::Run(run)).await;
        assert!(found.unwrap_err().is_unavailable());
    }
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    while locked.postgres.execute("postgres", waiting) != "0" {
        // The test ends after a minute if they wait for the lock.
        sleep(Duration::from_millis(10));
        assert!(locked.is_held(), "they ended with the lock");
    }
    locked.end();
    assert_eq!(store.find(&scope, Which::Run(run)).await.unwrap(), None);
}

/// The user of the store has no connection left.
struct Exhausted(Postgres);

impl Fault for Exhausted {
    fn begin(&self) {
        self.0.execute("postgres", "alter role app connection limit 0");
        let cut = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'";
        self.0.execute("postgres", cut);
        let left = "select count(*) from pg_stat_activity where usename = 'app'";
        while self.0.execute("postgres", left) != "0" {
            sleep(Duration::from_millis(10));
        }
    }

    fn end(&self) {
        self.0.execute("postgres", "alter role app connection limit -1");
    }

    fn url(&self) -> String {
        self.0.url("postgres").replacen("postgres@", "app@", 1)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_database_without_connections() {
    let postgres = Postgres::start(&[]);
    postgres.execute("postgres", "create role app login; grant create on database postgres to app");
    shop::check(Exhausted(postgres)).await;
}
