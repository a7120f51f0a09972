//! Tests of the servers with their own programs as clients.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use omniassist_test_databases::{PgBouncer, Postgres, Redis};

#[test]
fn postgres_keeps_its_rows_over_a_crash() {
    let postgres = Postgres::start(&["max_connections=7"]);
    let url = postgres.create_database();
    assert!(url.ends_with("/test_0"), "{url}");
    postgres.execute("test_0", "create table a (b int); insert into a values (17)");
    assert_eq!(postgres.execute("test_0", "show max_connections"), "7");
    postgres.crash();
    postgres.resume();
    assert_eq!(postgres.execute("test_0", "select b from a"), "17");
}

#[test]
fn redis_is_empty_after_a_crash() {
    let redis = Redis::start();
    assert_eq!(redis.execute(&["set", "a", "17"]), "OK");
    assert_eq!(redis.execute(&["get", "a"]), "17");
    redis.crash();
    redis.resume();
    assert_eq!(redis.execute(&["get", "a"]), "");
}

#[test]
fn pgbouncer_passes_statements_on() {
    let postgres = Postgres::start(&[]);
    let pgbouncer = PgBouncer::start(&postgres, 2);
    for _ in 0..2 {
        let select = Command::new("psql")
            .args(["-X", "-q", "-A", "-t", "-c", "select 17"])
            .arg(pgbouncer.url("postgres"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&select.stdout), "17\n", "{select:?}");
        pgbouncer.crash();
        pgbouncer.resume();
    }
}
