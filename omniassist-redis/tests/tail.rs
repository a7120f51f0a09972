//! The text of runs of other servers.

use std::time::Duration;

use omniassist_redis::{Redis, RedisTail};
use omniassist_server::Assistant;
use omniassist_server::core::Limits;
use omniassist_server::store::{ConversationStore, KeyStore, MemoryStore, RunStore};
use omniassist_server::testing::ScriptedProvider;
use omniassist_test_databases::Redis as Server;
use tokio::time::{sleep, timeout};

use crate::page::{all, ask, numbers, read_until, stored, text, watch};

/// Returns two servers on one store, of which the first has the model.
pub(crate) fn two<S: RunStore + ConversationStore + KeyStore + Clone>(
    store: &S,
    redis: &Redis,
    model: ScriptedProvider,
) -> (Assistant, Assistant) {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 100;
    let build = |model| {
        let store = RedisTail::new(store.clone(), redis);
        Assistant::builder(model).store(store).limits(limits.clone()).build().unwrap()
    };
    (build(model), build(ScriptedProvider::new()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_at_another_server_sees_the_text() {
    const RUNS: usize = 5;
    let (server, store) = (Server::start(), MemoryStore::new());
    let redis = Redis::connect(&server.url()).unwrap();
    let (first, other) = two(&store, &redis, numbers(200, Duration::from_millis(20)));
    let runs = (0..RUNS).map(|run| {
        let (first, other, store) = (first.clone(), other.clone(), store.clone());
        tokio::spawn(async move {
            let chat = format!("chat-{run}");
            let mut own = ask(&first, &chat).await;
            read_until(&mut own, "orange-5 ").await;
            let own = tokio::spawn(async move { read_until(&mut own, "data: [DONE]").await });
            let mut viewer = watch(&other, &chat).await;
            let seen = read_until(&mut viewer, "data: [DONE]").await;
            let seen_text: String = seen.iter().map(|(delta, _)| delta.as_str()).collect();
            assert_eq!((seen_text, stored(&store, &chat).await), (all(200), all(200)));
            let own = own.await.unwrap();
            // The last deltas of both, without those before the server of the run knew of the viewer.
            let pairs = own.iter().rev().zip(seen.iter().rev()).take(150);
            let late = pairs.map(|((word, own), (same, seen))| {
                assert_eq!(word, same);
                seen.saturating_duration_since(*own)
            });
            late.collect::<Vec<_>>()
        })
    });
    let mut late = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        late.extend(run.await.unwrap());
    }
    late.sort();
    let at = |percent: usize| late[(late.len() - 1) * percent / 100];
    println!(
        "{RUNS} remote viewers, {} deltas: p50 {:?}, p99 {:?}, max {:?}",
        late.len(),
        at(50),
        at(99),
        at(100)
    );
    // The latency depends on the machine. The text has come through Redis.
    let entries = server.execute(&["--no-raw", "xrange", "omniassist:tail", "-", "+"]);
    assert!((190..200).all(|number| entries.contains(&format!("orange-{number} "))), "{entries}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_in_redis_and_no_connection_stays_open() {
    let (server, store) = (Server::start(), MemoryStore::new());
    let redis = Redis::connect(&server.url()).unwrap();
    let (first, other) = two(&store, &redis, numbers(30, Duration::from_millis(20)));
    let mut own = ask(&first, "c").await;
    read_until(&mut own, "orange-3 ").await;
    assert_eq!(text(watch(&other, "c").await).await, all(30));
    assert_ne!(server.execute(&["dbsize"]), "0");
    assert_ne!(server.execute(&["pttl", "omniassist:tail"]), "-1");
    drop((own, first, other, redis));
    let gone = async {
        // `redis-cli` is a client itself.
        while server.execute(&["dbsize"]) != "0" || server.execute(&["client", "list"]).lines().count() > 1 {
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(60), gone).await.expect("keys and connections go away");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_at_another_server_arrives_by_a_hint() {
    let (server, store) = (Server::start(), MemoryStore::new());
    let redis = Redis::connect(&server.url()).unwrap();
    let (first, other) = two(&store, &redis, numbers(10_000, Duration::from_millis(20)));
    let mut own = ask(&first, "c").await;
    read_until(&mut own, "orange-5 ").await;
    let stopped = crate::page::stop(&other, "c").await;
    assert_eq!(stopped, r#"{"state":"stopped","stopped":true}"#);
    read_until(&mut own, "data: [DONE]").await;
}
