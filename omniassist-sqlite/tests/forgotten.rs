//! A forgotten user: nothing that it said is left in a file, or is in the log.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::store::{
    Change, ConversationStore, Delete, Durability, InstanceId, Page, Retention, RunStore, Segment,
    SegmentKind, StoredMessage,
};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Approval, Assistant, Principal, Tool, ToolError};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tracing_subscriber::fmt::MakeWriter;

use crate::folder::{Folder, LEASE, alice, begin};

pub(crate) const CANARY: &str = "canary-0b51e2";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Returns a post of a message.
pub(crate) fn request(chat: &str, id: &str) -> Request<Full<bytes::Bytes>> {
    let message = json!({ "id": id, "role": "user", "content": format!("{CANARY}, please") });
    let body = json!({ "id": chat, "message": message }).to_string();
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    request.body(Full::<bytes::Bytes>::from(body)).unwrap()
}

pub(crate) async fn post(assistant: &Assistant, chat: &str) -> AssistantBody {
    let request = request(chat, "m1");
    AssistantService::new(assistant.clone()).handle(request).await.into_body()
}

/// Posts a message, and reads the whole answer.
pub(crate) async fn send(assistant: &Assistant, chat: &str) {
    post(assistant, chat).await.collect().await.unwrap();
}

/// Returns the number of occurrences in all files of the folder, the log included.
pub(crate) fn hits(path: &Path) -> usize {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    files.map(|file| count(&fs::read(file.unwrap().path()).unwrap_or_default())).sum()
}

/// Waits until the files have no occurrence: a deletion does not wait for those that read.
async fn nothing_is_left(path: &Path) {
    let cleared = async {
        while hits(path) > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(timeout(Duration::from_secs(5), cleared).await.is_ok(), "the files have the deleted text");
}

pub(crate) fn count(bytes: &[u8]) -> usize {
    bytes.windows(CANARY.len()).filter(|window| *window == CANARY.as_bytes()).count()
}

#[tokio::test]
async fn a_forgotten_user_is_in_no_file_and_in_no_log() {
    let log = Log::default();
    let everything = tracing_subscriber::fmt().with_env_filter("trace").with_writer(log.clone());
    everything.try_init().unwrap();
    let folder = Folder::new();
    let path = folder.path();
    let argument = || json!({ "order": CANARY });
    let model = ScriptedProvider::new()
        // A chat that has ended, with a tool.
        .turn(call("find", argument()))
        .turn(text(CANARY))
        // One that waits for an approval, and one in the middle of its answer.
        .turn(call("refund", argument()))
        .turn(Turn::text(CANARY).then(Turn::pending()));
    let find = Tool::new("find", "Finds an order", || async { Ok::<_, ToolError>(CANARY) });
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>(CANARY) })
        .requires_approval(Approval::always());
    let store = SqliteStore::open(&path).unwrap();
    let assistant = Assistant::builder(model.clone()).tool(find).tool(refund).store(store).build().unwrap();
    for chat in ["ended", "waiting"] {
        send(&assistant, chat).await;
    }
    let mut live = post(&assistant, "live").await;
    let _ = live.frame().await;
    // The text of the last one is written within 100 ms.
    sleep(Duration::from_millis(300)).await;
    // Titles, questions, an answer, arguments, an output, a question for approval, and three journals.
    assert!(hits(&path) >= 12, "{}", hits(&path));

    let user = Principal::new("ada");
    let conversations = assistant.conversations().unwrap();
    assert_eq!(conversations.forget(&user).await.unwrap(), 3);
    timeout(Duration::from_secs(5), model.dropped()).await.expect("the model is no longer asked");
    let ended = async {
        while assistant.live_runs() > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(5), ended).await.expect("no run goes on");
    nothing_is_left(&path).await;

    // The test sees what is logged, and the file while it is open.
    tracing::error!("{CANARY} is logged by this test");
    assert_eq!(count(&log.0.lock().unwrap()), 1, "{}", String::from_utf8_lossy(&log.0.lock().unwrap()));
}

/// A backup reads the file while a conversation is deleted. The deletion and later writes do not wait for it.
#[tokio::test]
async fn a_reader_delays_neither_a_deletion_nor_writes() {
    let folder = Folder::new();
    let path = folder.path();
    let (store, me) = (SqliteStore::open(&path).unwrap(), InstanceId::random());
    begin(&store, me, "c", CANARY).await;
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("begin; select count(*) from message").unwrap();

    let began = Instant::now();
    assert_eq!(store.delete(&alice(), Delete::Chat("c")).await.unwrap().conversations, 1);
    store.beat(me, LEASE, 0).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(hits(&path) > 0, "the reader sees the file as it was");

    // No other write follows.
    reader.execute_batch("commit").unwrap();
    nothing_is_left(&path).await;
}

/// Other writes wait for a transaction.
#[tokio::test]
async fn long_conversations_are_deleted_in_several_transactions() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let messages = (0..1500).map(|n| StoredMessage::new(format!("u{n}"), None, "Hello"));
    let long = Change::messages(messages.collect::<Vec<_>>());
    for chat in ["a", "b", "c", "d", "e", "f"] {
        store.save(&alice(), chat, &long).await.unwrap();
    }
    let mut policy = Retention::default();
    policy.conversations = Some(Duration::ZERO);
    assert_eq!(store.sweep(&policy, 3).await.unwrap().conversations, 2);
    assert_eq!(store.delete(&alice(), Delete::Everything).await.unwrap().conversations, 4);
    assert!(store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
}

/// A deletion pays for the log. A write of text does not.
#[tokio::test]
async fn only_deletions_clear_the_log() {
    let folder = Folder::new();
    let path = folder.path();
    let log = || fs::metadata(format!("{}-wal", path.display())).unwrap().len();
    let store = SqliteStore::open(&path).unwrap();
    let writer = begin(&store, InstanceId::random(), "c", "Hello").await;
    let before = log();
    let text = Segment::new(writer, 2, SegmentKind::Text, 1, "text");
    store.append(&[text], Durability::Soft).await.unwrap();
    assert!(log() > before);
    store.sweep(&Retention::default(), 9).await.unwrap();
    assert!(log() > before, "nothing was swept");
    store.delete(&alice(), Delete::Chat("c")).await.unwrap();
    assert_eq!(log(), 0);
    let mut tombstones = Retention::default();
    tombstones.tombstones = Duration::ZERO;
    store.save(&alice(), "d", &Change::messages([StoredMessage::new("u1", None, "Hello")])).await.unwrap();
    assert_eq!(store.sweep(&tombstones, 9).await.unwrap().tombstones, 1);
    assert_eq!(log(), 0);
}

/// The process before ended between a deletion and the end of those that read.
#[tokio::test]
async fn the_log_of_another_process_is_cleared() {
    let folder = Folder::new();
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    begin(&store, InstanceId::random(), "c", CANARY).await;
    // This connection does not clear the log, and keeps it.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("pragma secure_delete = on; delete from run; delete from message").unwrap();
    drop(store);
    assert!(hits(&path) > 0);

    let _store = SqliteStore::open(&path).unwrap();
    nothing_is_left(&path).await;
}
