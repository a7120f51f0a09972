//! A file store in memory that counts its writes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use omniassist_server::Principal;
use omniassist_server::files::{
    FileContent, FileFuture, FileInfo, FileKey, FileStore, FileUsage, FileWriter,
};

#[derive(Default)]
pub(super) struct Inner {
    pub(super) files: HashMap<FileKey, (FileInfo, Vec<Bytes>)>,
    /// The lengths of all written chunks.
    pub(super) chunks: Vec<usize>,
    /// The number of bytes of a body that have arrived, if a test counts them.
    pub(super) made: Arc<AtomicUsize>,
    /// The number of written bytes.
    pub(super) given: usize,
    /// The maximum number of bytes that had arrived and were not yet written.
    pub(super) held: usize,
    /// The number of open writers.
    pub(super) open: usize,
    /// Discards the content of large uploads.
    pub(super) discards: bool,
    /// Makes each method fail.
    pub(super) fails: bool,
    /// The time that the next write takes.
    pub(super) sleeps: Option<Duration>,
    /// Deletes each file when it is read.
    pub(super) is_emptied: bool,
    /// The number of files beyond which the completion of a file waits.
    pub(super) waits_beyond: Option<usize>,
}

/// A store in memory. Clones share the files.
#[derive(Clone, Default)]
pub(super) struct Memory(pub(super) Arc<Mutex<Inner>>);

struct Writer {
    store: Memory,
    key: FileKey,
    chunks: Vec<Bytes>,
}

impl Memory {
    fn check(&self) -> Result<(), &'static str> {
        if self.0.lock().unwrap().fails { Err("the disk of store-secret is on fire") } else { Ok(()) }
    }

    /// Returns the number of complete files.
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().files.len()
    }

    /// Returns `true` if the completion of a file has to wait.
    fn is_at_work(&self) -> bool {
        let inner = self.0.lock().unwrap();
        inner.waits_beyond.is_some_and(|files| inner.files.len() >= files)
    }

    /// Expires all files.
    pub(super) fn expire(&self) {
        for (info, _) in self.0.lock().unwrap().files.values_mut() {
            info.expires_ms = Some(1);
        }
    }
}

impl FileStore for Memory {
    fn create<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Box<dyn FileWriter>> {
        Box::pin(async move {
            self.check()?;
            self.0.lock().unwrap().open += 1;
            let writer = Writer { store: self.clone(), key: key.clone(), chunks: Vec::new() };
            Ok(Box::new(writer) as Box<dyn FileWriter>)
        })
    }

    fn find<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, Option<FileInfo>> {
        Box::pin(async move {
            self.check()?;
            Ok(self.0.lock().unwrap().files.get(key).map(|file| file.0.clone()))
        })
    }

    fn read<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, FileContent> {
        Box::pin(async move {
            let mut inner = self.0.lock().unwrap();
            if inner.is_emptied {
                inner.files.clear();
            }
            let chunks = inner.files.get(key).map(|file| file.1.clone());
            let chunks = chunks.ok_or("no such file")?;
            Ok(Box::pin(stream::iter(chunks.into_iter().map(Ok))) as FileContent)
        })
    }

    fn delete<'a>(&'a self, key: &'a FileKey) -> FileFuture<'a, ()> {
        Box::pin(async move {
            self.0.lock().unwrap().files.remove(key);
            Ok(())
        })
    }

    fn usage<'a>(&'a self, owner: &'a Principal) -> FileFuture<'a, FileUsage> {
        Box::pin(async move {
            self.check()?;
            let mut usage = FileUsage::default();
            for (key, (info, _)) in &self.0.lock().unwrap().files {
                if key.owner == *owner && info.expires_ms != Some(1) {
                    usage.add(info);
                }
            }
            // Other uploads can continue while the store counts.
            tokio::task::yield_now().await;
            Ok(usage)
        })
    }
}

impl FileWriter for Writer {
    fn write(&mut self, chunk: Bytes) -> FileFuture<'_, ()> {
        Box::pin(async move {
            let sleeps = self.store.0.lock().unwrap().sleeps.take();
            if let Some(time) = sleeps {
                tokio::time::sleep(time).await;
            }
            let mut inner = self.store.0.lock().unwrap();
            let held = inner.made.load(Ordering::Relaxed).saturating_sub(inner.given);
            inner.held = inner.held.max(held);
            inner.given += chunk.len();
            inner.chunks.push(chunk.len());
            if !inner.discards {
                self.chunks.push(chunk);
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>, info: FileInfo) -> FileFuture<'static, ()> {
        Box::pin(async move {
            while self.store.is_at_work() {
                tokio::task::yield_now().await;
            }
            let chunks = std::mem::take(&mut self.chunks);
            self.store.0.lock().unwrap().files.insert(self.key.clone(), (info, chunks));
            Ok(())
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.store.0.lock().unwrap().open -= 1;
    }
}
