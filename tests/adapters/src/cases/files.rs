//! Files: uploads that are streamed to the store, and their downloads.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use omniassist_server::files::{
    FileContent, FileFuture, FileInfo, FileKey, FileStore, FileUsage, FileWriter,
};
use omniassist_server::{Assistant, Principal};

use crate::host::Host;
use crate::stage::{assistant, says};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

const PDF: &[u8] = b"%PDF-1.7\n";

/// The size of a large upload in bytes.
const LARGE: usize = 3 << 20;

#[derive(Default)]
struct Kept {
    files: Vec<(FileKey, FileInfo, Vec<Bytes>)>,
    longest_chunk: usize,
}

/// A store in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Kept>>);

struct Writer(Memory, FileKey, Vec<Bytes>);

impl FileStore for Memory {
    fn create<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Box<dyn FileWriter>> {
        let writer = Writer(self.clone(), key.clone(), Vec::new());
        Box::pin(async move { Ok(Box::new(writer) as Box<dyn FileWriter>) })
    }

    fn find<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Option<FileInfo>> {
        let kept = self.0.lock().unwrap();
        let found = kept.files.iter().find(|file| file.0 == *key).map(|file| file.1.clone());
        Box::pin(async move { Ok(found) })
    }

    fn read<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, FileContent> {
        let kept = self.0.lock().unwrap();
        let chunks = kept.files.iter().find(|file| file.0 == *key).unwrap().2.clone();
        Box::pin(async move { Ok(Box::pin(stream::iter(chunks.into_iter().map(Ok))) as FileContent) })
    }

    fn delete<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, ()> {
        self.0.lock().unwrap().files.retain(|file| file.0 != *key);
        Box::pin(async { Ok(()) })
    }

    fn usage<'a>(&'a self, _: &'a Principal) -> FileFuture<'a, FileUsage> {
        Box::pin(async { Ok(FileUsage::default()) })
    }
}

impl FileWriter for Writer {
    fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()> {
        let mut kept = self.0.0.lock().unwrap();
        kept.longest_chunk = kept.longest_chunk.max(chunk.len());
        self.2.push(chunk);
        Box::pin(async { Ok(()) })
    }

    fn finish(self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()> {
        let Self(store, key, chunks) = *self;
        store.0.lock().unwrap().files.push((key, info, chunks));
        Box::pin(async { Ok(()) })
    }
}

fn with_files(store: &Memory) -> Assistant {
    assistant(says("Seen.")).files(store.clone()).build().unwrap()
}

async fn ask(host: &Host, ask: Ask) -> Answer {
    host.ask(&ask).await.whole().await
}

fn upload(content: impl Into<Bytes>) -> Ask {
    Ask::post("/assistant/files?filename=a.pdf", content)
        .header("content-type", "application/pdf")
        .user("ann")
}

pub(crate) async fn an_upload_is_served_to_its_principal_only_until_deleted(on: Transport) {
    let host = Host::start(on, &with_files(&Memory::default())).await;
    let answer = ask(&host, upload(PDF)).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    let url = answer.json()["files"][0]["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("/assistant/files/file_"), "{url}");

    let content = ask(&host, Ask::get(&url).user("ann")).await;
    assert_eq!((content.status(), content.body.as_ref()), (200, PDF));
    assert_eq!(content.header("content-length"), Some("9"));
    assert_eq!(content.header("content-disposition"), Some("attachment; filename*=UTF-8''a%2Epdf"));
    let head = ask(&host, Ask::new("HEAD", &url).user("ann")).await;
    assert_eq!((head.status(), head.header("content-length"), head.body.len()), (200, Some("9"), 0));

    let unknown = ask(&host, Ask::get("/assistant/files/file_00000000000000000000000000000000")).await;
    for user in [Some("bob"), None] {
        let asked = Ask::get(&url);
        let foreign = ask(&host, user.map_or(asked.clone(), |user| asked.user(user))).await;
        assert_eq!((foreign.status(), foreign.steady()), (404, unknown.steady()));
    }
    let deleted = ask(&host, Ask::new("DELETE", &url).user("ann")).await;
    assert_eq!((deleted.status(), deleted.body.len()), (204, 0));
    assert_eq!(ask(&host, Ask::get(&url).user("ann")).await.steady(), unknown.steady());
}

pub(crate) async fn a_large_upload_is_streamed_in_both_directions(on: Transport) {
    let store = Memory::default();
    let host = Host::start(on, &with_files(&store)).await;
    let mut large = PDF.to_vec();
    large.extend((PDF.len()..LARGE).map(|index| (index % 251) as u8));
    let answer = ask(&host, upload(large.clone()).pieces(200_000).unannounced()).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    let url = answer.json()["files"][0]["url"].as_str().unwrap().to_owned();
    let content = ask(&host, Ask::get(&url).user("ann")).await;
    assert!(content.body == large, "{} bytes came back", content.body.len());
    let longest = store.0.lock().unwrap().longest_chunk;
    assert!(longest <= 64 * 1024, "{longest}");
}

pub(crate) async fn a_form_of_files_is_stored(on: Transport) {
    let store = Memory::default();
    let host = Host::start(on, &with_files(&store)).await;
    let part = |name: &str| {
        let head = format!("--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n");
        [head.as_bytes(), PDF, b"\r\n"].concat()
    };
    let form = [part("a.pdf"), part("b.pdf"), b"--X--\r\n".to_vec()].concat();
    let asked = upload(form).header("content-type", "multipart/form-data; boundary=X");
    for asked in [asked.clone(), asked.pieces(7).unannounced()] {
        let answer = ask(&host, asked).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
        let names: Vec<_> =
            answer.json()["files"].as_array().unwrap().iter().map(|f| f["filename"].clone()).collect();
        assert_eq!(names, ["a.pdf", "b.pdf"]);
    }
}
