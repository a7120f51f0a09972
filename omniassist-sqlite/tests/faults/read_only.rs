use std::fs::{self, File, Permissions};

use omniassist_server::store::{ConversationStore, Window};
use omniassist_sqlite::SqliteStore;

use super::disk::Disk;
use super::save;
use crate::folder::{Folder, alice};

#[tokio::test]
async fn a_disk_that_only_can_be_read_is_told_at_the_start() {
    let folder = Folder::new();
    let Some(disk) = Disk::mount(folder.folder(), 4 << 20) else { return };
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    save(&store, "c", 100).await.unwrap();
    drop(store);
    disk.make_read_only();
    assert!(SqliteStore::open(&path).unwrap_err().is_read_only());
    assert!(SqliteStore::open(folder.path()).unwrap_err().is_read_only());
}

/// The user `root` may write any file, so that for it the first half tells nothing.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_only_can_be_read_is_told_at_the_start() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let path = folder.path();
    let store = SqliteStore::open(&path).unwrap();
    save(&store, "c", 100).await.unwrap();
    drop(store);
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    if File::options().append(true).open(&path).is_err() {
        assert!(SqliteStore::open(&path).unwrap_err().is_read_only());
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    }
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.load(&alice(), "c", &Window::default()).await.unwrap().is_some());
}
