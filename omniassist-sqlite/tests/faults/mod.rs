//! Failures of the file, of its disk, and of other processes.

mod busy;
mod disk;
mod full;
mod killed;
mod read_only;

use futures_util::future::join_all;
use omniassist_server::store::{
    Appended, Change, ConversationStore, Durability, RunStore, Saved, Segment, SegmentKind, StoreError,
    StoredMessage, TailOf, Writer,
};
use omniassist_sqlite::SqliteStore;
use rusqlite::Connection;

use crate::folder::alice;

/// The content of a message for which there is no room.
const HUGE: usize = 8 << 20;

fn text(writer: Writer, pos: u32) -> Segment {
    Segment::new(writer, pos, SegmentKind::Consequence, pos, "result")
}

async fn append(store: &SqliteStore, segment: Segment, how: Durability) -> Result<Appended, StoreError> {
    Ok(store.append(&[segment], how).await?[0])
}

async fn save(store: &SqliteStore, chat: &str, bytes: usize) -> Result<Saved, StoreError> {
    let message = StoredMessage::new("u1", None, vec![b'x'; bytes]);
    store.save(&alice(), chat, &Change::messages([message])).await
}

async fn positions(store: &SqliteStore, writer: Writer) -> Vec<u32> {
    let tails = store.read(&[TailOf::new(alice(), writer.run, 0)], usize::MAX).await.unwrap();
    tails[0].as_ref().unwrap().segments.iter().map(|segment| segment.pos).collect()
}

/// Appends the second segment of each run and saves a message that is too long, all in one commit.
///
/// Another process holds the lock of the file until all of them wait.
async fn overfill(store: &SqliteStore, runs: &[Writer]) -> (Vec<Result<Appended, StoreError>>, StoreError) {
    let other = lock(store);
    let appended = runs.iter().map(|writer| append(store, text(*writer, 2), Durability::Hard));
    let (first, rest) = (runs.len() / 2, appended.collect::<Vec<_>>());
    let mut rest = rest.into_iter();
    let before: Vec<_> = rest.by_ref().take(first).collect();
    let unlock = async { other.execute_batch("rollback").unwrap() };
    let (mut appended, too_long, after, ()) =
        tokio::join!(join_all(before), save(store, "long", HUGE), join_all(rest), unlock);
    appended.extend(after);
    (appended, too_long.unwrap_err())
}

/// Takes the lock of the file, as another process that writes.
fn lock(store: &SqliteStore) -> Connection {
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("begin immediate").unwrap();
    other
}
