//! Tests of a record of approved calls that several servers share through SQLite.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omniassist_server::Assistant;
use omniassist_server::core::message::Message;
use omniassist_server::seal::{ClaimFuture, ClaimOutcome, ReplayGuard, SealClaim, SealKeys};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::tool::Approval;

use super::approvals::{answer, call_refund, post, refund};

/// Keeps approved calls in a table that all servers share.
///
/// The insert with a unique key is atomic, so exactly one server runs the call.
#[derive(Clone)]
struct SqliteReplayGuard(Arc<Mutex<rusqlite::Connection>>);

impl SqliteReplayGuard {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = rusqlite::Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS approved_calls (call TEXT PRIMARY KEY, forget_at_ms INTEGER NOT NULL)",
        )?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    fn insert(&self, key: &str, lifetime: Duration) -> rusqlite::Result<ClaimOutcome> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let in_ms = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute("DELETE FROM approved_calls WHERE forget_at_ms <= ?1", [in_ms(now)])?;
        let inserted = connection.execute(
            "INSERT INTO approved_calls (call, forget_at_ms) VALUES (?1, ?2) ON CONFLICT (call) DO NOTHING",
            (key, in_ms(now + lifetime)),
        )?;
        Ok(if inserted == 1 { ClaimOutcome::First } else { ClaimOutcome::Used })
    }
}

impl ReplayGuard for SqliteReplayGuard {
    fn claim<'a>(&'a self, claim: &'a SealClaim, lifetime: Duration) -> ClaimFuture<'a> {
        let (guard, key) = (self.clone(), claim.key());
        Box::pin(async move {
            let inserted = tokio::task::spawn_blocking(move || guard.insert(&key, lifetime)).await;
            inserted.ok().and_then(Result::ok).unwrap_or(ClaimOutcome::Unknown)
        })
    }
}

#[tokio::test]
async fn an_approval_runs_once_on_servers_that_share_a_record() {
    let path = std::env::temp_dir().join(format!("omniassist-guard-{}.sqlite", std::process::id()));
    let keys = SealKeys::new("k1", "a secret of thirty-two bytes, or more").unwrap();
    let (tool, ran) = refund(Approval::always());
    let server = |model: ScriptedProvider| {
        let guard = SqliteReplayGuard::open(&path).unwrap();
        let builder = Assistant::builder(model).tool(tool.clone()).seal_keys(keys.clone());
        builder.replay_guard(guard).build().unwrap()
    };
    let first = server(ScriptedProvider::new().turn(call_refund(5)));
    let (mut messages, _) = post(&first, "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, true);

    let posts = (0..4).map(|_| {
        let (server, messages) = (server(ScriptedProvider::new().turn(text("Done."))), messages.clone());
        tokio::spawn(async move { post(&server, "c", messages).await })
    });
    let refused = AtomicUsize::new(0);
    for post in posts.collect::<Vec<_>>() {
        let (messages, _) = post.await.unwrap();
        let shown = format!("{messages:?}");
        refused.fetch_add(usize::from(shown.contains("was not run again")), Ordering::SeqCst);
    }
    assert_eq!((ran.load(Ordering::SeqCst), refused.into_inner()), (1, 3));
    std::fs::remove_file(&path).unwrap();
}
