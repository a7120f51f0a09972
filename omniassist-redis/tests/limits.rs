//! Limits that several servers share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Extensions;
use omniassist_redis::{Redis, RedisRateLimit, RedisTokenBudget};
use omniassist_server::Principal;
use omniassist_server::core::{RunRequest, Usage};
use omniassist_server::throttle::{
    Attempt, Grant, RateDecision, RateLimit, Reservation, Spent, TokenBudget, WhenUnavailable,
};
use omniassist_test_databases::Redis as Server;
use tokio::time::sleep;

use crate::failover::Name;

const SERVERS: u64 = 8;
const HOUR: Duration = Duration::from_secs(3600);

/// Returns one value for each server, each with a connection of its own.
fn servers<T>(server: &Server, limit: impl Fn(&Redis) -> T) -> Vec<Arc<T>> {
    (0..SERVERS).map(|_| Arc::new(limit(&Redis::connect(&server.url()).unwrap()))).collect()
}

async fn allowed(limit: &RedisRateLimit, who: &str) -> bool {
    let (principal, extensions) = (Principal::new(who), Extensions::new());
    let request = RunRequest::new(Vec::new());
    let attempt = Attempt::new(&principal, &request, &extensions);
    matches!(limit.check(&attempt).await.unwrap(), RateDecision::Allow)
}

fn reservation(id: &str, lifetime: Duration) -> Reservation {
    Reservation::new(Principal::new("ada"), id.to_owned(), lifetime)
}

fn spent(tokens: u64) -> Spent {
    let mut usage = Usage::default();
    usage.total_tokens = Some(tokens);
    Spent::new(usage, false)
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_servers_allow_the_rate_of_one() {
    const RATE: u32 = 400;
    const SECONDS: u32 = 5;
    let server = Server::start();
    let limits = servers(&server, |redis| RedisRateLimit::per_second(redis, "runs", RATE).burst(40));
    let began = Instant::now();
    let tasks: Vec<_> = limits
        .into_iter()
        .map(|limit| {
            tokio::spawn(async move {
                let mut count = 0;
                while began.elapsed() < Duration::from_secs(SECONDS.into()) {
                    count += u32::from(allowed(&limit, "ada").await);
                }
                count
            })
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await.unwrap();
    }
    let expected = 40.0 + f64::from(RATE) * began.elapsed().as_secs_f64();
    let off = (f64::from(count) - expected) / expected * 100.0;
    println!("{SERVERS} servers, {RATE} a second: {count} allowed, {expected:.0} expected, {off:+.2} %");
    assert!(off.abs() <= 1.0, "{count} of {expected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_counts_each_principal_and_says_when_to_come_back() {
    let server = Server::start();
    let redis = Redis::connect(&server.url()).unwrap();
    let limit = RedisRateLimit::per_minute(&redis, "runs", 2);
    for who in ["ada", "bob"] {
        assert!(allowed(&limit, who).await && allowed(&limit, who).await && !allowed(&limit, who).await);
    }
    let (principal, extensions, request) =
        (Principal::new("ada"), Extensions::new(), RunRequest::new(Vec::new()));
    let decision = limit.check(&Attempt::new(&principal, &request, &extensions)).await.unwrap();
    let RateDecision::Wait(wait) = decision else { panic!("{decision:?}") };
    assert!(wait > Duration::from_secs(25) && wait <= Duration::from_secs(30), "{wait:?}");
    // Limits of other names do not share the count, and each key expires.
    assert!(allowed(&RedisRateLimit::per_minute(&redis, "calls", 2), "ada").await);
    assert!(!allowed(&RedisRateLimit::per_minute(&redis, "runs", 2), "ada").await);
    for key in server.execute(&["keys", "*"]).lines() {
        assert_ne!(server.execute(&["pttl", key]), "-1", "{key}");
    }
    for refuses in [
        RedisRateLimit::per_minute(&redis, "none", 0),
        RedisRateLimit::per_minute(&redis, "none", 9).burst(0),
    ] {
        assert!(!allowed(&refuses, "ada").await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_servers_cannot_overdraw_one_budget() {
    const BUDGET: u64 = 50_000;
    let server = Server::start();
    let budgets = servers(&server, |redis| RedisTokenBudget::new(redis, "tokens", BUDGET, HOUR));
    // Each model call reserves 64 tokens again and again, and uses all of them before it is settled.
    let tasks: Vec<_> = budgets
        .into_iter()
        .flat_map(|budget| (0..25).map(move |run| (Arc::clone(&budget), run)))
        .enumerate()
        .map(|(server, (budget, run))| {
            tokio::spawn(async move {
                let mut used = 0;
                for call in 0.. {
                    let of = reservation(&format!("{server}-{run}-{call}"), HOUR);
                    let mut held = 0;
                    while held < 640 {
                        match budget.reserve(&of, held + 1..=held + 64).await.unwrap() {
                            Grant::Tokens(tokens) => held = tokens,
                            _ => break,
                        }
                    }
                    budget.settle(&of, &spent(held)).await.unwrap();
                    used += held;
                    if held < 640 {
                        return used;
                    }
                }
                used
            })
        })
        .collect();
    let mut used = 0;
    for task in tasks {
        used += task.await.unwrap();
    }
    println!("{SERVERS} servers, 200 runs, one budget of {BUDGET}: {used} used");
    assert_eq!(used, BUDGET);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_counts_reservations_and_what_is_spent() {
    let server = Server::start();
    let redis = Redis::connect(&server.url()).unwrap();
    let budget = RedisTokenBudget::new(&redis, "tokens", 100, HOUR);
    let (one, two) = (reservation("one", HOUR), reservation("two", HOUR));
    assert_eq!(budget.reserve(&one, 1..=60).await.unwrap(), Grant::Tokens(60));
    assert_eq!(budget.reserve(&two, 1..=60).await.unwrap(), Grant::Tokens(40));
    // The same reservation is changed. One that does not fit stays as it is.
    assert_eq!(budget.reserve(&one, 10..=50).await.unwrap(), Grant::Tokens(50));
    let lent = budget.reserve(&two, 60..=64).await.unwrap();
    assert_eq!(lent, Grant::Exceeded { retry_after: Duration::from_secs(1) });
    budget.settle(&one, &spent(80)).await.unwrap();
    budget.settle(&two, &Spent::nothing()).await.unwrap();
    budget.settle(&reservation("unknown", HOUR), &spent(5)).await.unwrap();
    assert_eq!(budget.reserve(&two, 1..=64).await.unwrap(), Grant::Tokens(15));
    budget.settle(&two, &spent(15)).await.unwrap();
    let Grant::Exceeded { retry_after } = budget.reserve(&one, 1..=64).await.unwrap() else { panic!() };
    assert!(retry_after > Duration::from_secs(3500) && retry_after <= HOUR, "{retry_after:?}");
    for key in server.execute(&["keys", "*"]).lines() {
        assert_ne!(server.execute(&["pttl", key]), "-1", "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_renewed_and_counts_what_a_killed_server_reserved() {
    let server = Server::start();
    let redis = Redis::connect(&server.url()).unwrap();
    let budget = RedisTokenBudget::new(&redis, "tokens", 100, Duration::from_secs(3));
    let short = reservation("killed", Duration::from_millis(500));
    assert_eq!(budget.reserve(&short, 1..=64).await.unwrap(), Grant::Tokens(64));
    sleep(Duration::from_millis(700)).await;
    let one = reservation("one", HOUR);
    assert_eq!(budget.reserve(&one, 1..=64).await.unwrap(), Grant::Tokens(36));
    budget.settle(&one, &spent(36)).await.unwrap();
    assert!(matches!(budget.reserve(&one, 1..=64).await.unwrap(), Grant::Exceeded { .. }));
    sleep(Duration::from_secs(3)).await;
    assert_eq!(budget.reserve(&one, 1..=64).await.unwrap(), Grant::Tokens(64));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_fail_while_redis_is_away_and_work_again() {
    let server = Server::start();
    let redis = Redis::connect(&server.url()).unwrap();
    let limit = RedisRateLimit::per_minute(&redis, "runs", 100);
    let budget = RedisTokenBudget::new(&redis, "tokens", 100, HOUR).if_unavailable(WhenUnavailable::Allow);
    assert_eq!(limit.when_unavailable(), WhenUnavailable::Refuse);
    assert_eq!(budget.when_unavailable(), WhenUnavailable::Allow);
    let (principal, extensions, request) =
        (Principal::new("ada"), Extensions::new(), RunRequest::new(Vec::new()));
    let attempt = Attempt::new(&principal, &request, &extensions);
    assert!(limit.check(&attempt).await.is_ok());

    server.signal("STOP");
    let asked = Instant::now();
    assert!(limit.check(&attempt).await.is_err());
    assert!(asked.elapsed() < limit.timeout(), "{:?}", asked.elapsed());
    server.signal("CONT");
    server.crash();
    assert!(limit.check(&attempt).await.is_err());
    let of = reservation("one", HOUR);
    assert!(budget.reserve(&of, 1..=64).await.is_err() && budget.settle(&of, &spent(1)).await.is_err());
    server.resume();
    // A failure to connect counts for a moment.
    sleep(Duration::from_millis(100)).await;
    assert!(limit.check(&attempt).await.is_ok());
    assert_eq!(budget.reserve(&of, 1..=64).await.unwrap(), Grant::Tokens(64));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_follow_the_name_of_the_server_after_a_failover() {
    let (old, new) = (Server::start(), Server::start());
    let name = Name::of(&old);
    let redis = Redis::connect(&name.url()).unwrap();
    assert!(allowed(&RedisRateLimit::per_hour(&redis, "runs", 9), "ada").await);
    name.fail_over(&old, &new);
    // The first call may tell the connection that its server writes no more.
    let limit = RedisRateLimit::per_hour(&redis, "runs", 9);
    let (principal, extensions) = (Principal::new("ada"), Extensions::new());
    let request = RunRequest::new(Vec::new());
    let attempt = Attempt::new(&principal, &request, &extensions);
    assert!(limit.check(&attempt).await.is_err());
    assert!(allowed(&limit, "ada").await);
}

#[tokio::test]
async fn names_with_a_colon_are_different_limits() {
    let server = Server::start();
    let redis = Redis::connect(&server.url()).unwrap();
    let rate = |name| RedisRateLimit::per_hour(&redis, name, 1);
    assert!(allowed(&rate("a"), "b:c").await && allowed(&rate("a:b"), "c").await);
    assert!(!allowed(&rate("a"), "b:c").await && !allowed(&rate("a:b"), "c").await);

    let grant = async |name, account| {
        let of = Reservation::new(Principal::new(account), "run".to_owned(), HOUR);
        RedisTokenBudget::new(&redis, name, 10, HOUR).reserve(&of, 10..=10).await.unwrap()
    };
    assert_eq!([grant("a", "b:c").await, grant("a:b", "c").await], [Grant::Tokens(10); 2]);
}

/// A server that accepts connections, and answers nothing.
#[tokio::test]
async fn callers_of_a_silent_server_do_not_wait_for_each_other() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let redis = Redis::connect(&format!("redis://{}", listener.local_addr().unwrap())).unwrap();
    let limit = RedisRateLimit::per_hour(&redis, "runs", 1);
    let (principal, extensions) = (Principal::new("ada"), Extensions::new());
    let request = RunRequest::new(Vec::new());
    let attempt = Attempt::new(&principal, &request, &extensions);
    let began = Instant::now();
    let checks = futures_util::future::join_all((0..8).map(|_| limit.check(&attempt))).await;
    assert!(checks.iter().all(Result::is_err), "{checks:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}
