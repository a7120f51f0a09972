use std::time::Duration;

use omniassist_server::store::{Appended, Begun, Durability, InstanceId, NewRun, RunId, RunStore, Which};
use omniassist_sqlite::SqliteStore;

use super::{append, lock, positions, text};
use crate::folder::{Folder, alice, begin};

#[tokio::test]
async fn a_file_that_another_process_locks_is_unavailable() {
    let folder = Folder::new();
    let store = SqliteStore::options().busy_timeout(Duration::ZERO).open(folder.path()).unwrap();
    let me = InstanceId::random();
    let writer = begin(&store, me, "c", "Hello").await;
    let other = lock(&store);
    let new = NewRun::new(RunId::random(), alice(), "d", me);

    assert!(store.begin(&new).await.unwrap_err().is_unavailable());
    for how in [Durability::Soft, Durability::Hard] {
        assert!(append(&store, text(writer, 2), how).await.unwrap_err().is_unavailable());
    }
    assert!(
        SqliteStore::options().busy_timeout(Duration::ZERO).open(store.path()).unwrap_err().is_unavailable()
    );
    assert!(store.find(&alice(), Which::Run(writer.run)).await.unwrap().is_some(), "reads do not wait");

    other.execute_batch("rollback").unwrap();
    assert_eq!(positions(&store, writer).await, [1]);
    assert!(matches!(store.begin(&new).await.unwrap(), Begun::Started(_)));
    let appended = append(&store, text(writer, 2), Durability::Hard).await.unwrap();
    assert!(matches!(appended, Appended::Taken(_)));
}
