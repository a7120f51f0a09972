//! Tests of the servers with their own programs as clients.

#![allow(clippy::unwrap_used)]

use omniassist_test_databases::{Postgres, Redis};

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
