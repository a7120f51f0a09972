use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::{FileError, FileId, FileInfo, FileKey, FileWriter, Kind, Library, content_type, name};
use crate::Principal;
use crate::clock::{millis, now_ms};

/// The maximum number of bytes that a store receives at once.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// The number of bytes from which the media type is detected.
const HEAD_BYTES: usize = 4 * 1024;

impl Library {
    /// Begins an upload. `stated` is the media type that the client states, and `announced` the size, if it is known.
    ///
    /// # Errors
    ///
    /// Fails if a limit leaves no room for the file, or the store fails.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        owner: &Principal,
        name: Option<&str>,
        stated: Option<String>,
        announced: u64,
    ) -> Result<Upload, FileError> {
        let most = self.limits().max_file_bytes;
        if announced > most {
            return Err(Kind::TooLarge(most).into());
        }
        self.check_quota(owner, announced).await?;
        let key = FileKey { owner: owner.clone(), id: FileId::random()? };
        Ok(Upload {
            library: Arc::clone(self),
            key,
            name: name.and_then(name::clean),
            stated,
            size: 0,
            head: BytesMut::new(),
            open: None,
        })
    }
}

/// A file that is being uploaded. Dropping it discards the file.
pub(crate) struct Upload {
    library: Arc<Library>,
    key: FileKey,
    name: Option<String>,
    stated: Option<String>,
    size: u64,
    /// The beginning of the content, until the media type is known.
    head: BytesMut,
    /// The media type, and the writer of the content.
    open: Option<(String, Box<dyn FileWriter>)>,
}

impl Upload {
    /// Appends to the file.
    ///
    /// # Errors
    ///
    /// Fails if the file is too large or of a type that is not accepted, or the store fails.
    pub(crate) async fn write(&mut self, mut bytes: Bytes) -> Result<(), FileError> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        let most = self.library.limits().max_file_bytes;
        if self.size > most {
            return Err(Kind::TooLarge(most).into());
        }
        if self.open.is_none() {
            let missing = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
            self.head.extend_from_slice(&bytes.split_to(missing));
            if self.head.len() < HEAD_BYTES {
                return Ok(());
            }
            self.open().await?;
        }
        let Some((_, writer)) = &mut self.open else { return Ok(()) };
        while !bytes.is_empty() {
            let chunk = bytes.split_to(bytes.len().min(CHUNK_BYTES));
            writer.write(chunk).await.map_err(FileError::store)?;
        }
        Ok(())
    }

    /// Finds the media type, and begins the file in the store.
    async fn open(&mut self) -> Result<(), FileError> {
        let media_type = content_type::of(&self.head, self.stated.as_deref(), self.name.as_deref());
        if !self.library.limits().takes(&media_type) {
            return Err(Kind::Type(media_type).into());
        }
        let mut writer = self.library.store.create(&self.key).await.map_err(FileError::store)?;
        writer.write(self.head.split().freeze()).await.map_err(FileError::store)?;
        self.open = Some((media_type, writer));
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    ///
    /// Fails if the file is empty, or of a type that is not accepted, or the principal has no room for it, or the store
    /// fails.
    pub(crate) async fn finish(mut self) -> Result<FileInfo, FileError> {
        if self.size == 0 {
            return Err(Kind::Empty.into());
        }
        if self.open.is_none() {
            self.open().await?;
        }
        let Some((media_type, writer)) = self.open.take() else { return Err(Kind::Empty.into()) };
        let created_ms = now_ms();
        let info = FileInfo {
            id: self.key.id.clone(),
            media_type,
            name: self.name.take(),
            size: self.size,
            created_ms,
            expires_ms: self.library.limits().lifetime.map(|life| created_ms.saturating_add(millis(life))),
        };
        let owner = &self.key.owner;
        // Without the lock, two uploads could both use the room for one of them.
        let _lock = self.library.lock(owner).await;
        self.library.check_quota(owner, self.size).await?;
        writer.finish(info.clone()).await.map_err(FileError::store)?;
        Ok(info)
    }

    pub(crate) fn key(&self) -> &FileKey {
        &self.key
    }
}
