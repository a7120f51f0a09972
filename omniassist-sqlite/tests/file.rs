//! The file: its versions, its errors, and the content that is left in it.

use std::error::Error as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::future::join;
use omniassist_server::store::{
    Begun, Change, ConversationStore, Delete, Ending, InstanceId, NewRun, Page, RunId, RunStore, Saved,
    Scope, Segment, SegmentKind, Settled, StoredMessage, Which, Window,
};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use crate::folder::{Folder, alice, begin};

#[tokio::test]
async fn content_is_there_after_a_restart() {
    let folder = Folder::new();
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    let question = Change::messages([StoredMessage::new("u1", None, "Hello")]);
    assert_eq!(store.save(&alice(), "c", &question).await.unwrap(), Saved::Version(1));
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let loaded = store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(loaded.messages[0].body, "Hello");
}

#[test]
fn databases_of_others_are_refused() {
    let folder = Folder::new();
    let path = folder.path();
    Connection::open(&path).unwrap().execute_batch("create table users (id integer)").unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(error.is_incompatible());
    let opened = error.source().unwrap();
    assert_eq!(opened.to_string(), format!("`{}` cannot be opened", path.display()));
    assert_eq!(opened.source().unwrap().to_string(), "the database was not made by OmniAssist");
}

#[test]
fn files_that_cannot_be_opened_are_told_apart() {
    let folder = Folder::new();
    assert!(SqliteStore::open("/nowhere/at/all.db").unwrap_err().is_unavailable());
    let path = folder.path();
    fs::write(
        &path,
        "This is not a database, and it is longer than the header of one would have to be.".repeat(9),
    )
    .unwrap();
    assert!(SqliteStore::open(&path).unwrap_err().is_corrupt());
}

#[tokio::test]
async fn deleted_content_leaves_the_file() {
    const CANARY: &str = "canary-7f3a9c";
    let folder = Folder::new();
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    let writer = begin(&store, InstanceId::random(), "c", CANARY).await;
    let last = Segment::new(writer, 2, SegmentKind::End, 1, CANARY);
    let mut end = Settled::new(last, Ending::Finished);
    let answer = StoredMessage::new("a1", Some("u1".into()), CANARY.repeat(2000));
    let mut change = Change::messages([answer]);
    change.title = Some(CANARY.into());
    end.change = Some(change);
    end.usage = Some(CANARY.into());
    store.settle(&end).await.unwrap();
    checkpoint(&path);
    assert!(holds(&path, CANARY));
    store.delete(&alice(), Delete::Everything).await.unwrap();
    assert!(!holds(&path, CANARY));
}

fn checkpoint(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    let busy: i64 = connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0);
}

fn holds(path: &Path, canary: &str) -> bool {
    let contains = |bytes: Vec<u8>| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
    let wal = format!("{}-wal", path.display());
    contains(fs::read(path).unwrap()) || contains(fs::read(wal).unwrap_or_default())
}

#[tokio::test]
async fn conversations_of_one_time_are_listed_once() {
    let folder = Folder::new();
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    for chat in ["a", "b", "c"] {
        store.save(&alice(), chat, &Change::default()).await.unwrap();
    }
    Connection::open(&path).unwrap().execute("update conversation set updated_at = 1", []).unwrap();
    let (mut names, mut page) = (Vec::new(), Page::first(1));
    loop {
        let listing = store.list(&alice(), &page).await.unwrap();
        names.extend(listing.conversations.into_iter().map(|info| info.chat));
        let Some(next) = listing.next else { break };
        page = Page::at(next, 1);
    }
    assert_eq!(names, ["c", "b", "a"]);
}

/// Other writes go between the batches of a long deletion.
#[tokio::test]
async fn a_write_does_not_wait_for_the_deletion_of_all_conversations() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    begin(&store, InstanceId::random(), "live", "Hello").await;
    let chats = "insert into conversation (owner, chat, created_at, updated_at)
        with recursive n (n) as (select 1 union all select n + 1 from n where n < 350)
        select 'alice', n, 0, 0 from n";
    Connection::open(store.path()).unwrap().execute(chats, []).unwrap();

    let ended = Mutex::new(Vec::new());
    let delete = async {
        let deleted = store.delete(&alice(), Delete::Everything).await.unwrap();
        ended.lock().unwrap().push("the deletion");
        assert_eq!((deleted.conversations, deleted.runs.len()), (351, 1));
    };
    let save = async {
        store.save(&Scope::new("bob"), "c", &Change::default()).await.unwrap();
        ended.lock().unwrap().push("the write");
    };
    join(delete, save).await;
    assert_eq!(*ended.lock().unwrap(), ["the write", "the deletion"]);
    assert!(store.list(&alice(), &Page::first(9)).await.unwrap().conversations.is_empty());
}

/// A chat keeps a row for each of its runs. Each query finds those that it needs by an index.
#[tokio::test]
async fn a_chat_with_many_runs_is_as_fast_as_a_new_one() {
    let folder = Folder::new();
    let (store, me) = (SqliteStore::open(folder.path()).unwrap(), InstanceId::random());
    let time = async |chat: &str| {
        let began = Instant::now();
        for _ in 0..100 {
            let new = NewRun::new(RunId::random(), alice(), chat, me);
            assert!(matches!(store.begin(&new).await.unwrap(), Begun::Busy(_)));
            assert!(store.find(&alice(), Which::Chat(chat)).await.unwrap().is_some());
        }
        began.elapsed()
    };
    begin(&store, me, "new", "Hello").await;
    let new = time("new").await;
    begin(&store, me, "long", "Hello").await;
    let runs = "insert into run (id, conversation, state, epoch, post, created_at, ended_at)
        with recursive n (n) as (select 1 union all select n + 1 from n where n < 50000)
        select cast(n as blob), id, 4, 1, cast(n as blob), 0, 0 from n join conversation on chat = 'long'";
    Connection::open(store.path()).unwrap().execute(runs, []).unwrap();
    let long = time("long").await;
    assert!(long < new * 5 + Duration::from_millis(200), "{long:?} and {new:?}");
}
