//! Rate limits that servers share.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http::Extensions;
use omniassist_postgres::{PostgresRateLimit, PostgresStore};
use omniassist_server::Principal;
use omniassist_server::core::RunRequest;
use omniassist_server::store::{Retention, RunStore};
use omniassist_server::throttle::{Attempt, RateDecision, RateLimit};

use crate::database::{connect, execute, new_schema};

async fn check(limit: &PostgresRateLimit, user: &str) -> RateDecision {
    let (user, request) = (Principal::new(user), RunRequest::prompt("Hello"));
    limit.check(&Attempt::new(&user, &request, &Extensions::new())).await.unwrap()
}

/// Returns the stores of eight servers.
async fn servers() -> Vec<PostgresStore> {
    let schema = new_schema();
    let first = connect(&schema).await;
    let others = join_all((0..7).map(|_| connect(&schema))).await;
    std::iter::once(first).chain(others).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_servers_have_one_rate() {
    const BURST: u32 = 20;
    const EACH: Duration = Duration::from_millis(10);
    let limits: Vec<_> = servers()
        .await
        .iter()
        .map(|store| store.rate_limit("runs", 100, Duration::from_secs(1)).burst(BURST))
        .collect();
    check(&limits[0], "warm-up").await;
    let began = Instant::now();
    let attempts = limits.iter().flat_map(|limit| [limit, limit]).map(|limit| async {
        let (mut allowed, mut last) = (0_u32, Duration::ZERO);
        while began.elapsed() < Duration::from_secs(4) {
            match check(limit, "ada").await {
                RateDecision::Allow => {
                    allowed += 1;
                    last = began.elapsed();
                }
                RateDecision::Wait(delay) => {
                    assert!(delay <= EACH, "{delay:?}");
                    tokio::time::sleep(delay).await;
                }
                decision => panic!("{decision:?}"),
            }
        }
        (allowed, last)
    });
    let counts = join_all(attempts).await;
    let allowed: u32 = counts.iter().map(|(allowed, _)| allowed).sum();
    let last = counts.iter().map(|(_, last)| *last).max().unwrap();
    let expected = f64::from(BURST) + last.as_secs_f64() / EACH.as_secs_f64();
    // The first attempt was counted up to one round trip after the start.
    assert!(f64::from(allowed) <= expected + 1.0, "{allowed} of {expected}");
    assert!(f64::from(allowed) >= expected * 0.99 - 1.0, "{allowed} of {expected}");
}

#[tokio::test]
async fn each_principal_and_each_limit_counts_alone() {
    let store = connect(&new_schema()).await;
    let minute = Duration::from_secs(60);
    let (runs, calls) = (store.rate_limit("runs", 2, minute), store.rate_limit("calls", 1, minute));
    let same = store.rate_limit("runs", 2, minute);
    assert_eq!(check(&runs, "ada").await, RateDecision::Allow);
    assert_eq!(check(&same, "ada").await, RateDecision::Allow);
    let RateDecision::Wait(delay) = check(&runs, "ada").await else { panic!("the burst is used up") };
    assert!(delay > Duration::from_secs(25) && delay <= Duration::from_secs(30), "{delay:?}");
    for limit in [&calls, &runs] {
        assert_eq!(check(limit, "bob").await, RateDecision::Allow);
    }
    let tenant = store.rate_limit("runs", 2, minute).per(|_| Principal::new("ada"));
    assert!(matches!(check(&tenant, "eve").await, RateDecision::Wait(_)));
    for none in [store.rate_limit("none", 0, minute), store.rate_limit("none", 5, minute).burst(0)] {
        assert_eq!(check(&none, "ada").await, RateDecision::Wait(minute));
    }
}

/// A sweep goes on while it deletes anything, in transactions of a limited size.
#[tokio::test]
async fn all_rates_and_approvals_that_no_longer_count_are_swept() {
    let schema = new_schema();
    let store = connect(&schema).await;
    execute(
        &schema,
        "insert into rate select n::text, now() - interval '1 s' from generate_series(1, 50) n;
         insert into used_approval select n::text, now() - interval '1 s' from generate_series(1, 50) n;
         insert into rate values ('kept', now() + interval '1 day');
         insert into used_approval values ('kept', now() + interval '1 day')",
    );
    while !store.sweep(&Retention::default(), 20).await.unwrap().is_empty() {}
    let left =
        "select string_agg(key, ' ') from (select key from rate union all select key from used_approval) t";
    assert_eq!(execute(&schema, left), "kept kept");
}
