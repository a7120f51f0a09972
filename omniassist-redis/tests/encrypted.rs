//! Text in Redis below a layer that encrypts it.

use std::time::Duration;

use omniassist_redis::{Redis, RedisTail};
use omniassist_server::Assistant;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{ConversationStore, MemoryStore, RunStore};
use omniassist_server::testing::ScriptedProvider;
use omniassist_test_databases::Redis as Server;

use crate::page::{all, ask, numbers, read_until, watch};

/// Returns all content of Redis in the middle of an answer that another server shows.
async fn content<S: RunStore + ConversationStore>(server: &Server, store: impl Fn(&Redis) -> S) -> String {
    let redis = Redis::connect(&server.url()).unwrap();
    let build = |model| Assistant::builder(model).store(store(&redis)).build().unwrap();
    let (first, other) = (build(numbers(100, Duration::from_millis(20))), build(ScriptedProvider::new()));
    let mut own = ask(&first, "c").await;
    read_until(&mut own, "orange-5 ").await;
    let mut viewer = watch(&other, "c").await;
    let mut seen = read_until(&mut viewer, "orange-50 ").await;
    let content: String = server.execute(&["keys", "*"]).lines().map(|key| dump(server, key)).collect();
    seen.extend(read_until(&mut viewer, "data: [DONE]").await);
    assert_eq!(seen.into_iter().map(|(delta, _)| delta).collect::<String>(), all(100));
    content
}

/// Returns the entries of a stream. No other kind of key may be there.
fn dump(server: &Server, key: &str) -> String {
    assert_eq!(server.execute(&["type", key]), "stream", "{key}");
    server.execute(&["--no-raw", "xrange", key, "-", "+"])
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_has_no_plain_text_below_encryption() {
    let (server, store) = (Server::start(), MemoryStore::new());
    let plain = content(&server, |redis| RedisTail::new(store.clone(), redis)).await;
    assert!(plain.contains("orange"), "the check finds plain text");

    let (server, store) = (Server::start(), MemoryStore::new());
    let keys = EncryptionKeys::new("now", "at least thirty-two bytes of randomness").unwrap();
    let sealed =
        content(&server, |redis| Encrypted::new(RedisTail::new(store.clone(), redis), keys.clone())).await;
    assert!(sealed.len() > 1000 && !sealed.contains("orange"), "{sealed}");
}
