//! Files of other versions.

use std::error::Error as _;
use std::path::Path;

use omniassist_server::store::{
    Appended, Begun, Branch, Change, Claim, ConversationStore, Durability, InstanceId, NewRun, NotSaved,
    Page, RunId, RunState, RunStore, Saved, Scope, Segment, SegmentKind, Signal, SignalKind, Signalled,
    TailOf, Which, Window,
};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use crate::folder::{Folder, LEASE, alice, begin};

/// A file of each version.
const GOLDEN: [&str; 2] =
    [include_str!("golden/1.sql"), concat!(include_str!("golden/1.sql"), include_str!("golden/2.sql"))];

fn golden(folder: &Folder, version: usize) -> SqliteStore {
    let path = folder.path();
    Connection::open(&path).unwrap().execute_batch(GOLDEN[version - 1]).unwrap();
    SqliteStore::open(path).unwrap()
}

fn run(number: u8) -> RunId {
    let mut bytes = [0; 16];
    bytes[15] = number;
    RunId::from_bytes(bytes)
}

#[tokio::test]
async fn conversations_of_every_version_are_read() {
    for version in 1..=GOLDEN.len() {
        let folder = Folder::new();
        let store = golden(&folder, version);
        let listing = store.list(&alice(), &Page::first(9)).await.unwrap();
        let chats: Vec<_> = listing.conversations.iter().map(|info| info.chat.as_str()).collect();
        assert_eq!(chats, ["ended", "waiting", "running"]);

        let loaded = store.load(&alice(), "ended", &Window::default()).await.unwrap().unwrap();
        let (title, head, version) = (loaded.info.title, loaded.info.head, loaded.info.version);
        assert_eq!((title.as_deref(), head.as_deref(), version), (Some("Order 17"), Some("a1"), 3));
        assert_eq!(
            (loaded.info.meta.as_deref(), loaded.info.updated_ms),
            (Some(&b"{}"[..]), 1_795_449_603_000)
        );
        assert_eq!(loaded.info.key.as_deref(), Some(&[0, 255][..]));
        let bodies: Vec<_> = loaded.messages.iter().map(|message| &message.body[..]).collect();
        assert_eq!(bodies, [&b"Where is it?"[..], &[0, 255]]);
        let mut all = Window::default();
        all.branch = Branch::All;
        assert_eq!(store.load(&alice(), "ended", &all).await.unwrap().unwrap().messages.len(), 3);

        let mut change = Change::default();
        change.title = Some("Cancelled".into());
        assert_eq!(store.save(&alice(), "ended", &change).await.unwrap(), Saved::Version(4));
        let deleted = store.save(&alice(), "deleted", &change).await.unwrap();
        assert_eq!(deleted, Saved::Refused(NotSaved::Deleted));
    }
}

#[tokio::test]
async fn runs_of_every_version_go_on() {
    for version in 1..=GOLDEN.len() {
        let folder = Folder::new();
        let (store, me) = (golden(&folder, version), InstanceId::random());
        let tails = store.read(&[TailOf::new(alice(), run(1), 0)], usize::MAX).await.unwrap();
        let tail = tails[0].as_ref().unwrap();
        let found: Vec<_> =
            tail.segments.iter().map(|segment| (segment.kind, segment.events, &segment.data[..])).collect();
        let (first, second): (&[u8], &[u8]) = (b"first", &[0, 255]);
        let last: &[u8] = b"last";
        let expected = [
            (SegmentKind::Consequence, 2, first),
            (SegmentKind::Text, 5, second),
            (SegmentKind::End, 7, last),
        ];
        assert_eq!(found, expected);
        let ended = store.find(&alice(), Which::Chat("ended")).await.unwrap().unwrap();
        assert_eq!((ended.state, ended.usage.as_deref()), (RunState::Finished, Some(&b"usage 1"[..])));

        let beat = store.beat(me, LEASE, 9).await.unwrap();
        assert_eq!(beat.free, [run(3)], "its process is dead");
        assert!(store.claim(run(4), me, Claim::IfFree).await.unwrap().is_none(), "it is behind another one");
        let claimed = store.claim(run(3), me, Claim::IfFree).await.unwrap().unwrap();
        assert_eq!((claimed.head.head, claimed.takeovers, &claimed.input[..]), (3, 2, &b"input 3"[..]));
        assert!(claimed.signals.is_empty(), "the signal is of a later version");
        let next = Segment::new(claimed.writer, 4, SegmentKind::Text, 2, "next");
        assert!(matches!(store.append(&[next], Durability::Hard).await.unwrap()[..], [Appended::Taken(_)]));
    }
}

#[tokio::test]
async fn questions_of_every_version_are_answered() {
    for version in 1..=GOLDEN.len() {
        let folder = Folder::new();
        let (store, me) = (golden(&folder, version), InstanceId::random());
        let waiting = store.find(&alice(), Which::Chat("waiting")).await.unwrap().unwrap();
        let [first, second] = &waiting.obligations[..] else { panic!("two questions") };
        assert_eq!((&first.data[..], &second.data[..]), (&b"Cancel?"[..], &b"Refund?"[..]));
        assert_eq!((first.expires_ms, second.expires_ms), (None, Some(4_102_444_800_000)));
        assert_eq!(&first.answer.as_ref().unwrap().signal.data[..], b"yes");
        assert!(second.answer.is_none());
        let answer = Signal::new(SignalKind::Answer("call-2".into()), "alice");
        assert_eq!(store.signal(&alice(), run(2), &answer).await.unwrap(), Signalled::Taken);
        assert!(store.beat(me, LEASE, 9).await.unwrap().free.contains(&run(2)));
        assert_eq!(store.find(&Scope::new("bob"), Which::Run(run(2))).await.unwrap(), None);
    }
}

#[test]
fn migrated_files_have_the_tables_of_new_ones() {
    let folder = Folder::new();
    let new = SqliteStore::open(folder.path()).unwrap();
    for version in 1..=GOLDEN.len() {
        assert_eq!(tables(golden(&folder, version).path()), tables(new.path()), "{version}");
    }
}

/// Returns the statements that create the tables and indexes, without comments and white space.
fn tables(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut query =
        connection.prepare("select sql from sqlite_master where sql is not null order by name").unwrap();
    let found = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let code = |sql: String| -> String {
        let lines = sql.lines().filter(|line| !line.trim_start().starts_with("--"));
        lines.flat_map(str::split_whitespace).collect()
    };
    found.map(|sql| code(sql.unwrap())).collect()
}

/// A process of this version has the file open when one of the next version migrates it.
#[tokio::test]
async fn a_newer_version_does_not_stop_an_open_store() {
    let folder = Folder::new();
    let (store, me) = (SqliteStore::open(folder.path()).unwrap(), InstanceId::random());
    let writer = begin(&store, me, "c", "Hello").await;
    let migration = "begin immediate;
        alter table run add column agent text;
        create table agent (id integer primary key) strict;
        insert into schema_version (version, applied_at) values (99, 0);
        commit;";
    Connection::open(store.path()).unwrap().execute_batch(migration).unwrap();

    let segment = Segment::new(writer, 2, SegmentKind::Text, 1, "text");
    assert!(matches!(store.append(&[segment], Durability::Hard).await.unwrap()[..], [Appended::Taken(_)]));
    let other = NewRun::new(RunId::random(), alice(), "d", me);
    assert!(matches!(store.begin(&other).await.unwrap(), Begun::Started(_)));
    assert!(store.find(&alice(), Which::Chat("d")).await.unwrap().is_some());

    // A process of this version starts again, until a migration removes what it needs.
    let again = SqliteStore::open(store.path()).unwrap();
    assert!(again.find(&alice(), Which::Chat("c")).await.unwrap().is_some());
    let contract = "update schema_version set usable_from = 3 where version = 99";
    Connection::open(store.path()).unwrap().execute_batch(contract).unwrap();
    let refused = SqliteStore::open(store.path()).unwrap_err();
    assert!(refused.is_incompatible());
    let reason = refused.source().unwrap().source().unwrap().to_string();
    assert_eq!(reason, "the database was made by a newer version of OmniAssist");
}
