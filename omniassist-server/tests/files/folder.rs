//! Tests of the file store in a folder.

use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use omniassist_server::files::{FileId, FileInfo, FileKey, FileLimits, FileStore, FolderStore};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};

use super::{PDF, PNG, builder, get, serve, upload, upload_as};

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = format!("omniassist-files-{test}-{}", std::process::id());
        Self(std::env::temp_dir().join(folder))
    }

    fn store(&self) -> FolderStore {
        FolderStore::open(&self.0).unwrap()
    }

    /// Returns the paths of all files below the folder.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in std::fs::read_dir(&self.0).unwrap() {
            found.extend(std::fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
        }
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn age(path: &Path, by: Duration) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}

#[test]
fn the_error_of_a_folder_that_cannot_be_created_has_its_path() {
    let folder = Folder::new("path");
    drop(folder.store());
    let file = folder.0.join("file");
    std::fs::write(&file, "").unwrap();
    let error = FolderStore::open(file.join("files")).unwrap_err();
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn files_survive_a_restart_and_belong_to_their_principal() {
    let folder = Folder::new("restart");
    let large = [PDF, &[7; 200_000]].concat();
    let url = {
        let service = serve(builder(folder.store()).1);
        let answer = upload(&service, "/files?filename=a.pdf", "application/pdf", &large).await;
        answer.file()["url"].as_str().unwrap().to_owned()
    };
    let service = serve(builder(folder.store()).1);
    let answer = get(&service, "ann", &url).await;
    assert_eq!((answer.status, answer.body.as_ref()), (200, large.as_slice()));
    assert_eq!(get(&service, "bob", &url).await.status, 404);
    let files = folder.files();
    assert_eq!(files.len(), 2);
    for file in files {
        let path = file.to_str().unwrap();
        assert!(!path.contains("ann") && !path.contains("a.pdf"), "{path}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}

#[tokio::test]
async fn an_upload_that_fails_leaves_no_file() {
    let folder = Folder::new("failed");
    let mut limits = FileLimits::default();
    limits.max_file_bytes = 100_000;
    limits.max_files_per_principal = 1;
    let service = serve(builder(folder.store()).1.file_limits(limits));
    let too_large = [PNG, &[0; 100_000]].concat();
    let mut request = super::request("ann", "POST", "/files", "");
    *request.body_mut() = http_body_util::Full::new(too_large.into());
    assert_eq!(super::Answer::of(service.handle(request).await).await.status, 413);
    assert_eq!(upload(&service, "/files", "", PNG).await.status, 201);
    assert_eq!(upload(&service, "/files", "", PNG).await.status, 403);
    assert_eq!(folder.files().len(), 2);
}

#[tokio::test]
async fn expired_and_abandoned_files_are_removed() {
    let folder = Folder::new("expired");
    let mut limits = FileLimits::default();
    limits.lifetime = Some(Duration::ZERO);
    let store = folder.store();
    let short = serve(builder(store.clone()).1.file_limits(limits));
    let long = serve(builder(store.clone()).1);
    assert_eq!(upload(&short, "/files", "", PNG).await.status, 201);
    assert_eq!(upload_as(&short, "bob", "/files", "", PNG).await.status, 201);
    assert_eq!(folder.files().len(), 4);
    // The next upload of a principal removes its expired files.
    let kept = upload(&long, "/files", "", PNG).await.file();
    assert_eq!(folder.files().len(), 4);

    let parent = folder.files()[0].parent().unwrap().to_owned();
    for (name, by) in [("file_x.part", 25), ("file_y", 25), ("file_z.part", 23)] {
        std::fs::write(parent.join(name), b"half").unwrap();
        age(&parent.join(name), Duration::from_secs(by * 60 * 60));
    }
    std::fs::write(folder.0.join("note.txt"), b"not a folder").unwrap();
    assert_eq!(store.remove_expired().await.unwrap(), 3);
    std::fs::remove_file(folder.0.join("note.txt")).unwrap();
    let names: Vec<_> = folder.files().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    let id = kept["id"].as_str().unwrap();
    let mut expected = vec![id.to_owned(), format!("{id}.json"), "file_z.part".to_owned()];
    expected.sort();
    let mut names: Vec<_> = names.into_iter().map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn a_deleted_file_can_be_deleted_again() {
    let folder = Folder::new("deleted");
    let store = folder.store();
    let service = serve(builder(store.clone()).1);
    let file = upload(&service, "/files", "", PNG).await.file();
    let id = FileId::parse(file["id"].as_str().unwrap()).unwrap();
    let key = FileKey { owner: Principal::new("ann"), id };
    assert_eq!(key.path().len(), 64 + 1 + 37);
    assert!(store.find(&key).await.unwrap().is_some());
    for _ in 0..2 {
        store.delete(&key).await.unwrap();
        assert!(store.find(&key).await.unwrap().is_none());
    }
    assert!(folder.files().is_empty());
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_at_once() {
    let folder = Folder::new("taken");
    std::fs::write(&folder.0, b"a file").unwrap();
    assert!(FolderStore::open(&folder.0).is_err());
    std::fs::remove_file(&folder.0).unwrap();
    // Building and dropping an assistant creates no file.
    let model = omniassist_server::testing::ScriptedProvider::new();
    drop(Assistant::builder(model).files(folder.store()).build().unwrap());
    assert!(folder.files().is_empty());
}

/// Polls a future this often, and drops it.
async fn poll_and_drop(future: impl Future, times: u32) {
    let (mut future, mut polled) = (Box::pin(future), 0);
    poll_fn(|cx| {
        polled += 1;
        if polled > times { Poll::Ready(()) } else { future.as_mut().poll(cx).map(drop) }
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_leaves_no_content_without_a_description() {
    let folder = Folder::new("left");
    let store = folder.store();
    for times in 1..16 {
        let id = format!("file_{times:032}");
        let key = FileKey { owner: Principal::new("ann"), id: FileId::parse(&id).unwrap() };
        let description: Value =
            json!({ "id": id, "mediaType": "image/png", "size": PNG.len(), "createdMs": 1 });
        let info: FileInfo = serde_json::from_value(description).unwrap();
        let mut writer = store.create(&key).await.unwrap();
        writer.write(PNG.into()).await.unwrap();
        poll_and_drop(writer.finish(info), times).await;
        let began = std::time::Instant::now();
        let content = folder.0.join(key.path());
        // What is under way may go on.
        while content.with_extension("part").exists()
            || content.exists() != store.find(&key).await.unwrap().is_some()
        {
            assert!(began.elapsed() < Duration::from_secs(5), "{times}: {:?}", folder.files());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_its_file_is_created_leaves_no_file() {
    let folder = Folder::new("begun");
    let store = folder.store();
    for number in 0..20 {
        let id = FileId::parse(&format!("file_{number:032}")).unwrap();
        let key = FileKey { owner: Principal::new("ann"), id };
        let mut creating = store.create(&key);
        // The folder, and then the file.
        for _ in 0..2 {
            if futures_util::poll!(&mut creating).is_ready() {
                break;
            }
            while !folder.0.join(key.path()).parent().unwrap().exists() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(folder.files(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_upload_whose_description_cannot_be_written_leaves_no_content() {
    let folder = Folder::new("undescribed");
    let store = folder.store();
    let id = format!("file_{:032}", 1);
    let key = FileKey { owner: Principal::new("ann"), id: FileId::parse(&id).unwrap() };
    let info = json!({ "id": id, "mediaType": "image/png", "size": PNG.len(), "createdMs": 1 });
    let mut writer = store.create(&key).await.unwrap();
    writer.write(PNG.into()).await.unwrap();
    // No file can take this place.
    std::fs::create_dir(folder.0.join(key.path()).with_extension("json")).unwrap();
    assert!(writer.finish(serde_json::from_value(info).unwrap()).await.is_err());
    let left: Vec<_> = folder.files().into_iter().filter(|path| path.is_file()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn the_folders_of_others_are_left_alone() {
    let folder = Folder::new("others");
    let store = folder.store();
    let mut limits = FileLimits::default();
    limits.lifetime = Some(Duration::ZERO);
    assert_eq!(
        upload(&serve(builder(store.clone()).1.file_limits(limits)), "/files", "", PNG).await.status,
        201
    );
    let other = folder.0.join("lost+found");
    std::fs::create_dir(&other).unwrap();
    for (name, text) in [("README", "old"), ("package.json", "no description")] {
        std::fs::write(other.join(name), text).unwrap();
        age(&other.join(name), Duration::from_secs(25 * 60 * 60));
    }
    assert_eq!(store.remove_expired().await.unwrap(), 1);
    assert_eq!(folder.files(), [other.join("README"), other.join("package.json")]);
}
