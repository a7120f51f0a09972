//! Values that somebody changed in the file.

use omniassist_server::encryption::Encrypted;
use omniassist_server::store::{
    Change, Claim, ConversationStore, Durability, Ending, InstanceId, Obligation, RunStore, Scope, Segment,
    SegmentKind, Settled, Signal, SignalKind, StoreError, StoredMessage, TailOf, Which, Window, Writer,
};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use super::new_keys;
use crate::folder::{Folder, alice, begin};

struct Case {
    store: Encrypted<SqliteStore>,
    writer: Writer,
    _folder: Folder,
}

impl Case {
    /// Returns a store with two conversations of Alice, one with a run, and one of Bob.
    async fn new() -> Self {
        let folder = Folder::new();
        let store = Encrypted::new(SqliteStore::open(folder.path()).unwrap(), new_keys());
        let writer = begin(&store, InstanceId::random(), "c", "First").await;
        for pos in [2, 3] {
            let segment = Segment::new(writer, pos, SegmentKind::Text, 0, "text");
            store.append(&[segment], Durability::Hard).await.unwrap();
        }
        let mut second = Change::messages([StoredMessage::new("u2", Some("u1".into()), "Second")]);
        (second.title, second.meta) = (Some("Title".into()), Some("Content".into()));
        store.save(&alice(), "c", &second).await.unwrap();
        let mut other = Change::messages([StoredMessage::new("u1", None, "Other")]);
        other.title = Some("Other".into());
        store.save(&alice(), "d", &other).await.unwrap();
        store.save(&Scope::new("bob"), "c", &other).await.unwrap();
        Self { store, writer, _folder: folder }
    }

    fn change(&self, sql: &str) {
        let changed = Connection::open(self.store.inner().path()).unwrap().execute_batch(sql);
        changed.unwrap();
    }

    async fn load(&self) -> Result<(), StoreError> {
        self.store.load(&alice(), "c", &Window::default()).await.map(|_| ())
    }

    async fn read(&self) -> Result<(), StoreError> {
        self.store.read(&[TailOf::new(alice(), self.writer.run, 0)], usize::MAX).await.map(|_| ())
    }
}

/// Flips the last bit of a value.
fn flip(column: &str) -> String {
    format!(
        "{column} = cast(substr({column}, 1, length({column}) - 1)
         || case substr({column}, -1) when x'00' then x'01' else x'00' end as blob)"
    )
}

#[tokio::test]
async fn changed_values_are_corrupt() {
    let c = "(select id from conversation where owner = 'alice' and chat = 'c')";
    let of_d = "(select body from message m join conversation c on c.id = m.conversation where c.chat = 'd')";
    let messages = [
        format!("update message set body = {of_d} where conversation = {c} and id = 'u1'"),
        format!(
            "update message set body = (select body from message where conversation = {c} and id = 'u2') where id = 'u1'"
        ),
        format!("update message set {}", flip("body")),
        "update message set body = substr(body, 1, length(body) - 1)".to_owned(),
        "update message set body = x''".to_owned(),
        "update message set body = x'01'".to_owned(),
        "update message set body = cast('Plain' as blob)".to_owned(),
        format!(
            "update conversation set title = (select title from conversation where chat = 'd') where id = {c}"
        ),
        "update conversation set title = 'Plain'".to_owned(),
        "update conversation set title = title || 'A'".to_owned(),
        "update conversation set meta = (select body from message where id = 'u2')".to_owned(),
        "update conversation set key = x''".to_owned(),
        "update conversation set key = x'ff01'".to_owned(),
    ];
    for sql in messages {
        let case = Case::new().await;
        case.load().await.unwrap();
        case.change(&sql);
        assert!(case.load().await.is_err_and(|error| error.is_corrupt()), "{sql}");
    }
    let run = "(select number from run limit 1)";
    let segments = [
        format!(
            "update segment set data = (select data from segment where run = {run} and pos = 2) where pos = 3"
        ),
        format!("update segment set {} where pos = 2", flip("data")),
        "update segment set events = 9 where pos = 2".to_owned(),
        "update segment set kind = 1 where pos = 2".to_owned(),
        "update segment set data = x'' where pos = 2".to_owned(),
        "update segment set data = (select body from message limit 1) where pos = 2".to_owned(),
    ];
    for sql in segments {
        let case = Case::new().await;
        case.read().await.unwrap();
        case.change(&sql);
        assert!(case.read().await.is_err_and(|error| error.is_corrupt()), "{sql}");
    }
}

/// A whole conversation of another owner or name is of no use.
#[tokio::test]
async fn wrapped_keys_cannot_be_moved() {
    for from in ["owner = 'alice' and chat = 'd'", "owner = 'bob' and chat = 'c'"] {
        let case = Case::new().await;
        case.change(&format!(
            "update conversation set key = (select key from conversation where {from}) where owner = 'alice' and chat = 'c'"
        ));
        assert!(case.load().await.unwrap_err().is_missing_key(), "{from}");
    }
}

/// Changed data that a run needs in order to end is empty, so that the run is interrupted.
#[tokio::test]
async fn a_run_with_changed_answers_can_be_claimed() {
    let case = Case::new().await;
    let (store, run) = (&case.store, case.writer.run);
    let last = Segment::new(case.writer, 4, SegmentKind::Consequence, 0, "ask");
    let questions = vec![Obligation::new("one", "?"), Obligation::new("two", "?")];
    store.settle(&Settled::new(last, Ending::Waiting(questions))).await.unwrap();
    for call in ["one", "two"] {
        let mut answer = Signal::new(SignalKind::Answer(call.into()), "alice");
        answer.data = if call == "one" { "no".into() } else { "yes".into() };
        store.signal(&alice(), run, &answer).await.unwrap();
    }
    // The denial becomes an approval.
    case.change(
        "update signal set data = (select data from signal where key = 'answer:two') where key = 'answer:one'",
    );
    case.change("update obligation set data = cast('?' as blob) where call = 'two'");
    case.change("update run set input = cast('{}' as blob)");
    let head = store.find(&alice(), Which::Run(run)).await.unwrap().unwrap();
    let questions: Vec<_> = head.obligations.iter().map(|question| &question.data[..]).collect();
    assert_eq!(questions, [&b"?"[..], b""]);
    let answers: Vec<_> =
        head.obligations.iter().map(|question| &question.answer.as_ref().unwrap().signal.data[..]).collect();
    assert_eq!(answers, [&b""[..], b"yes"]);
    let claimed = store.claim(run, InstanceId::random(), Claim::IfFree).await.unwrap().unwrap();
    assert!(claimed.input.is_empty() && claimed.signals[0].signal.data.is_empty());
}
