//! Missing keys and their rotation.

use std::error::Error as _;

use http::StatusCode;
use http_body_util::BodyExt;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::http::AssistantService;
use omniassist_server::store::{
    Change, Claim, ConversationStore, InstanceId, Page, RunStore, StoreError, StoredMessage, TailOf, Which,
    Window,
};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, Principal};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use super::{both_keys, new_keys, old_keys};
use crate::folder::{Folder, LEASE, alice, begin};
use crate::forgotten::request;

fn wrong_secret() -> EncryptionKeys {
    EncryptionKeys::new("2026-08", "another secret of the same name, as long").unwrap()
}

fn reason(error: &StoreError) -> String {
    error.source().unwrap().to_string()
}

#[tokio::test]
async fn a_missing_key_is_named_and_writes_nothing() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let me = InstanceId::random();
    let writer = begin(&Encrypted::new(store.clone(), old_keys()), me, "c", "Hello").await;
    let expected = [
        (new_keys(), "the encryption key `2026-08` is not given"),
        (wrong_secret(), "the encryption key `2026-08` has another secret, or the wrapped key was changed"),
    ];
    let change = Change::messages([StoredMessage::new("u2", None, "Second")]);
    for (keys, expected) in expected {
        let other = Encrypted::new(store.clone(), keys);
        let new = omniassist_server::store::NewRun::new(
            omniassist_server::store::RunId::random(),
            alice(),
            "c",
            me,
        );
        let tail = [TailOf::new(alice(), writer.run, 0)];
        let errors = [
            other.load(&alice(), "c", &Window::default()).await.unwrap_err(),
            other.save(&alice(), "c", &change).await.unwrap_err(),
            other.begin(&new).await.unwrap_err(),
            other.read(&tail, 9).await.unwrap_err(),
            other.claim(writer.run, me, Claim::Force).await.unwrap_err(),
            other.rewrap().await.unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_missing_key(), "{error:?}");
            assert_eq!(reason(&error), expected);
        }
    }
    let head = store.find(&alice(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.head), (1, 1), "no claim was written");
    let other = store.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    assert_eq!(other.info.version, 1);
}

/// The key of one conversation is lost.
#[tokio::test]
async fn a_lost_key_leaves_the_other_conversations_readable() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let (new, old) = (Encrypted::new(store.clone(), new_keys()), Encrypted::new(store.clone(), old_keys()));
    let both = Encrypted::new(store.clone(), both_keys());
    let me = InstanceId::random();
    let hello = r#"{"id":"u1","role":"user","parts":[{"type":"text","text":"Hello"}]}"#;
    let readable = begin(&new, me, "a", hello).await;
    let unreadable = begin(&old, me, "b", hello).await;
    for (store, chat) in [(&new, "a"), (&old, "b")] {
        let mut change = Change::default();
        change.title = Some("Title".into());
        store.save(&alice(), chat, &change).await.unwrap();
    }

    let listing = new.list(&alice(), &Page::first(9)).await.unwrap();
    let mut listed: Vec<_> =
        listing.conversations.iter().map(|info| (info.chat.as_str(), info.title.as_deref())).collect();
    listed.sort_unstable();
    assert_eq!(listed, [("a", Some("Title")), ("b", None)]);
    assert!(new.load(&alice(), "b", &Window::default()).await.unwrap_err().is_missing_key());

    let assistant = Assistant::builder(ScriptedProvider::new()).store(new.clone()).build().unwrap();
    let mut export = assistant.conversations().unwrap().export(&Principal::new("alice"));
    let (mut lines, mut lost) = (Vec::new(), 0);
    loop {
        match export.next().await {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => break,
            Err(error) => lost += u32::from(error.is_missing_key()),
        }
    }
    assert_eq!((lines.len(), lost), (1, 1), "{lines:?}");
    assert!(lines[0].contains("Hello"), "{lines:?}");

    let tails = [TailOf::new(alice(), unreadable.run, 0), TailOf::new(alice(), readable.run, 0)];
    let found = new.read(&tails, 1000).await.unwrap();
    let opened = both.read(&tails, 1000).await.unwrap();
    assert_eq!(found[1], opened[1]);
    assert_ne!(found[0], opened[0]);
    assert!(new.read(&tails[..1], 1000).await.unwrap_err().is_missing_key());

    // A rotation wraps the other keys.
    let next = EncryptionKeys::new("2026-12", "the next secret, which is long enough").unwrap();
    let next = next.with_previous_key("2026-11", "at least thirty-two bytes of randomness").unwrap();
    let next = Encrypted::new(store.clone(), next);
    assert!(next.rewrap().await.unwrap_err().is_missing_key());
    assert!(new.load(&alice(), "a", &Window::default()).await.unwrap_err().is_missing_key());
    assert!(next.load(&alice(), "a", &Window::default()).await.is_ok());
}

#[tokio::test]
async fn a_missing_key_is_503_before_a_model_is_asked() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let serve = |keys: EncryptionKeys| {
        let model = ScriptedProvider::new().turn(text("Hello"));
        let store = Encrypted::new(store.clone(), keys);
        (model.clone(), AssistantService::new(Assistant::builder(model).store(store).build().unwrap()))
    };
    let (_, service) = serve(old_keys());
    let answered = service.handle(request("c", "m1")).await;
    assert_eq!(answered.status(), StatusCode::OK);
    answered.into_body().collect().await.unwrap();
    let (model, service) = serve(new_keys());
    let refused = service.handle(request("c", "m2")).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(body.contains("store_unavailable") && !body.contains("2026"), "{body}");
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn a_rotation_changes_the_wrapped_keys_alone() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let (old, both) = (Encrypted::new(store.clone(), old_keys()), Encrypted::new(store.clone(), both_keys()));
    let me = InstanceId::random();
    let writer = begin(&old, me, "c", "Before").await;
    old.beat(me, LEASE, 0).await.unwrap();
    let bodies = || {
        let connection = Connection::open(store.path()).unwrap();
        let mut query = connection.prepare("select body from message order by number").unwrap();
        let found: Vec<Vec<u8>> =
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        found
    };
    let before = bodies();
    let change = Change::messages([StoredMessage::new("u1", None, "New")]);
    both.save(&alice(), "new", &change).await.unwrap();
    assert_eq!(both.rewrap().await.unwrap(), 1, "that of the new conversation is wrapped with the new key");
    assert_eq!(both.rewrap().await.unwrap(), 0);
    assert_eq!(bodies()[..1], before, "content is not written again");

    // A server that was started before goes on with a run that it drives.
    let end = omniassist_server::store::Segment::new(
        writer,
        2,
        omniassist_server::store::SegmentKind::End,
        1,
        "End",
    );
    let mut end = omniassist_server::store::Settled::new(end, omniassist_server::store::Ending::Finished);
    end.change = Some(Change::messages([StoredMessage::new("a1", Some("u1".into()), "Answer")]));
    old.settle(&end).await.unwrap();

    let new = Encrypted::new(store.clone(), new_keys());
    let loaded = new.load(&alice(), "c", &Window::default()).await.unwrap().unwrap();
    let bodies: Vec<_> = loaded.messages.iter().map(|message| &message.body[..]).collect();
    assert_eq!(bodies, [&b"Before"[..], b"Answer"]);
    assert!(old.load(&alice(), "c", &Window::default()).await.unwrap_err().is_missing_key());
}

/// Returns the wrapped keys of all conversations.
fn wrapped(store: &SqliteStore) -> Vec<Vec<u8>> {
    let connection = Connection::open(store.path()).unwrap();
    let mut query = connection.prepare("select key from conversation").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn no_file_has_a_key_that_was_wrapped_anew() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    for chat in ["a", "b"] {
        let change = Change::messages([StoredMessage::new("u1", None, "Hello")]);
        Encrypted::new(store.clone(), old_keys()).save(&alice(), chat, &change).await.unwrap();
    }
    let old = wrapped(&store);
    assert_eq!(Encrypted::new(store.clone(), both_keys()).rewrap().await.unwrap(), 2);
    assert!(old.len() == 2 && old.iter().all(|key| !wrapped(&store).contains(key)));
    for file in std::fs::read_dir(folder.folder()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        for key in &old {
            assert!(!bytes.windows(key.len()).any(|window| window == key), "the old key can still unwrap");
        }
    }
}

#[test]
fn secrets_are_not_shown() {
    let folder = Folder::new();
    let store = Encrypted::new(SqliteStore::open(folder.path()).unwrap(), both_keys());
    let shown = format!("{store:?} {:?}", both_keys());
    assert!(shown.contains("2026-11") && shown.contains("2026-08"), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("randomness"), "{shown}");
}
