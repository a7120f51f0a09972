use std::path::Path;

use omniassist_server::store::{Appended, ConversationStore, Delete, InstanceId, Saved, Window, Writer};
use omniassist_sqlite::SqliteStore;

use super::disk::Disk;
use super::{overfill, positions, save};
use crate::folder::{Folder, alice, begin};

const MIB: u64 = 1 << 20;

async fn begin_some(store: &SqliteStore) -> Vec<Writer> {
    let (me, mut runs) = (InstanceId::random(), Vec::new());
    for chat in ["a", "b", "c", "d"] {
        runs.push(begin(store, me, chat, "Hello").await);
    }
    runs
}

/// Writes too much in one of several jobs of a commit, opens the file again, and compares it with the answers.
async fn only_the_long_message_is_lost(store: SqliteStore, again: impl Fn(&Path) -> SqliteStore) {
    let runs = begin_some(&store).await;
    let (appended, too_long) = overfill(&store, &runs).await;
    assert!(too_long.is_full(), "{too_long:?}");
    assert!(appended.iter().all(|answer| matches!(answer, Ok(Appended::Taken(_)))), "{appended:?}");
    let path = store.path().to_owned();
    drop(store);

    let store = again(&path);
    for writer in runs {
        assert_eq!(positions(&store, writer).await, [1, 2]);
    }
    assert_eq!(store.load(&alice(), "long", &Window::default()).await.unwrap(), None);
    assert_eq!(save(&store, "short", 100).await.unwrap(), Saved::Version(1));
}

#[tokio::test]
async fn a_full_file_loses_nothing_else() {
    let folder = Folder::new();
    let options = SqliteStore::options().max_bytes(MIB);
    let store = options.open(folder.path()).unwrap();
    only_the_long_message_is_lost(store, |path| options.open(path).unwrap()).await;
}

/// The commit fails, not a statement of it. Where nothing can be mounted, the test of a full file stands for it.
#[tokio::test]
async fn a_full_disk_loses_nothing_else() {
    let folder = Folder::new();
    let Some(_disk) = Disk::mount(folder.folder(), 2 * MIB) else { return };
    let store = SqliteStore::open(folder.path()).unwrap();
    only_the_long_message_is_lost(store, |path| SqliteStore::open(path).unwrap()).await;
}

#[tokio::test]
async fn a_limit_is_exact_and_deleted_content_makes_room() {
    let folder = Folder::new();
    let path = folder.path();
    drop(SqliteStore::open(&path).unwrap());
    let before = size(&path);
    SqliteStore::options().max_bytes(before).open(folder.path()).unwrap();
    assert!(SqliteStore::options().max_bytes(before - 1).open(folder.path()).unwrap_err().is_full());

    // A message of 100 KiB has 13 pages, of which one is there.
    for (pages, fits) in [(11, false), (20, true)] {
        let store = SqliteStore::options().max_bytes(before + pages * 8192).open(&path).unwrap();
        let saved = save(&store, "c", 100 << 10).await;
        assert_eq!(saved.is_ok(), fits, "{pages}");
        if let Err(error) = saved {
            assert!(error.is_full());
            continue;
        }
        assert!(save(&store, "d", 100 << 10).await.unwrap_err().is_full());
        store.delete(&alice(), Delete::Chat("c")).await.unwrap();
        assert_eq!(save(&store, "d", 100 << 10).await.unwrap(), Saved::Version(1));
        drop(store);
        assert!(size(&path) <= before + pages * 8192);
    }
}

/// Returns the size of the file after a checkpoint.
fn size(path: &Path) -> u64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    // A store that was just closed may still copy the log.
    let is_busy = || connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
    while is_busy() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::fs::metadata(path).unwrap().len()
}
