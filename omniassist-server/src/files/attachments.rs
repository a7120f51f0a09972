use std::collections::HashMap;
use std::io::Write as _;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderStringWriter;
use futures_util::StreamExt;
use omniassist_core::message::{FilePart, Message, Part, Role};
use omniassist_core::{Error, Text};

use super::{FileId, FileInfo, FileKey, Library};
use crate::{Principal, one_line};

/// A part that names a stored file.
struct Named<'a> {
    message: usize,
    part: usize,
    file: &'a FilePart,
    /// `None` if the file is not sent to the model.
    stored: Option<FileInfo>,
}

impl Library {
    /// Checks the stored files that a conversation names, without reading them.
    ///
    /// # Errors
    ///
    /// Fails if a file of the last message is not there for this principal, or its files are too large together.
    pub(crate) async fn check(&self, owner: &Principal, messages: &[Message]) -> Result<(), Error> {
        self.named(owner, messages).await.map(drop)
    }

    /// Returns the conversation with the stored files that it names, as `data:` URLs; `None` if it names none. An older file
    /// that is missing is replaced by a note for the model, as is one for which
    /// [`max_run_bytes`](super::FileLimits::max_run_bytes) leaves no room.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`check`](Self::check). Fails also if the store does.
    pub(crate) async fn load(
        &self,
        owner: &Principal,
        messages: &[Message],
    ) -> Result<Option<Vec<Message>>, Error> {
        let named = self.named(owner, messages).await?;
        if named.is_empty() {
            return Ok(None);
        }
        let mut read: HashMap<FileId, Text> = HashMap::new();
        let mut loaded = messages.to_vec();
        for named in named {
            let Named { message, part, file, stored } = named;
            let is_made = messages.get(message).is_some_and(|message| message.role == Role::Assistant);
            let with = match stored {
                None if is_made => continue,
                None => Part::text(left_out(file.filename.as_deref())),
                Some(info) => {
                    let url = match read.get(&info.id) {
                        Some(url) => url.clone(),
                        None => self.data_url(owner, &info).await?,
                    };
                    read.insert(info.id, url.clone());
                    let filename = file.filename.clone().or_else(|| info.name.map(Text::from));
                    Part::File(FilePart { media_type: info.media_type.into(), url, filename, metadata: None })
                }
            };
            let part = loaded.get_mut(message).and_then(|message| message.parts.get_mut(part));
            if let Some(part) = part {
                *part = with;
            }
        }
        Ok(Some(loaded))
    }

    /// Returns the parts that name stored files, the newest messages first.
    async fn named<'a>(&self, owner: &Principal, messages: &'a [Message]) -> Result<Vec<Named<'a>>, Error> {
        let mut found: HashMap<FileId, Option<FileInfo>> = HashMap::new();
        let mut room = self.limits().max_run_bytes as u64;
        let mut named = Vec::new();
        let last_user = messages.iter().rposition(|message| message.role == Role::User);
        let mut is_answered = false;
        for (index, message) in messages.iter().enumerate().rev() {
            // A missing file of the model is not an error of the client. An answer that waits for the user may wait longer
            // than the files of its question are kept.
            is_answered |= message.role == Role::Assistant;
            let is_last = Some(index) >= last_user && !is_answered;
            for (part, file) in files(message) {
                let Some(id) = FileId::of_url(&file.url) else { continue };
                let path = || format!("messages[{index}].parts[{part}].url");
                let is_first = !found.contains_key(&id);
                if is_first && found.len() >= self.limits().max_files_per_run {
                    // Each file costs a request to the store, so further ones are not looked up.
                    if is_last {
                        let limit = self.limits().max_files_per_run;
                        return Err(Error::limit_exceeded("max_files_per_run", limit, path()));
                    }
                    named.push(Named { message: index, part, file, stored: None });
                    continue;
                }
                if is_first {
                    let key = FileKey { owner: owner.clone(), id: id.clone() };
                    found.insert(id.clone(), self.find(&key).await.map_err(|error| unavailable(&error))?);
                }
                let mut stored = found.get(&id).cloned().flatten();
                if is_last && stored.is_none() {
                    return Err(Error::invalid_field(path(), "the URL of a stored file", "no file of yours"));
                }
                // A file that is named again is sent again.
                let size = stored.as_ref().map_or(0, |info| info.size);
                match room.checked_sub(size) {
                    Some(left) => room = left,
                    None if is_last => {
                        let limit = self.limits().max_run_bytes;
                        return Err(Error::limit_exceeded("max_run_bytes", limit, path()));
                    }
                    None => {
                        found.insert(id, None);
                        stored = None;
                    }
                }
                named.push(Named { message: index, part, file, stored });
            }
        }
        Ok(named)
    }

    async fn data_url(&self, owner: &Principal, info: &FileInfo) -> Result<Text, Error> {
        let key = FileKey { owner: owner.clone(), id: info.id.clone() };
        let mut chunks = self.read(&key).await.map_err(|error| unavailable(&error))?;
        let head = format!("data:{};base64,", info.media_type);
        let size = usize::try_from(info.size).unwrap_or(usize::MAX);
        let mut url = String::with_capacity(head.len() + size.div_ceil(3).saturating_mul(4));
        url.push_str(&head);
        let mut base64 = EncoderStringWriter::from_consumer(url, &STANDARD);
        let mut read = 0_usize;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| unavailable(&*error))?;
            read = read.saturating_add(chunk.len());
            if read > size {
                break;
            }
            base64.write_all(&chunk).map_err(|error| unavailable(&error))?;
        }
        if read != size {
            tracing::error!(id = info.id.as_str(), "a stored file does not have the size of its description");
            return Err(Error::internal());
        }
        Ok(base64.into_inner().into())
    }
}

fn files(message: &Message) -> impl Iterator<Item = (usize, &FilePart)> {
    message.parts.iter().enumerate().filter_map(|(index, part)| match part {
        Part::File(file) => Some((index, file)),
        _ => None,
    })
}

/// Returns the note that replaces a file for the model.
pub(super) fn left_out(name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
    format!("[The attached file{name} is no longer available.]")
}

fn unavailable(error: &(dyn std::error::Error + 'static)) -> Error {
    tracing::error!(error = %one_line::chain(error), "a stored file cannot be read");
    Error::internal()
}
