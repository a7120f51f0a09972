//! The URLs of a conversation.

use std::collections::HashMap;

use futures_util::future::join_all;
use omniassist_core::message::{FilePart, Message, Part, Role};

use super::fetcher::Fetched;
use super::{FetchError, Fetcher};
use crate::files::{FileId, attachments};
use crate::one_line;

/// The maximum number of concurrent downloads of one run.
const AT_ONCE: usize = 4;

/// A part of a conversation that names a file by URL.
struct Named<'a> {
    message: usize,
    part: usize,
    file: &'a FilePart,
}

impl Fetcher {
    /// Returns the conversation with the files that its users name by URL, as `data:` URLs; `None` if it names none. An older
    /// file that cannot be downloaded is replaced by a note for the model. `has_store` leaves out the URLs of stored files.
    ///
    /// # Errors
    ///
    /// Returns the path of a part of the user's last message whose file cannot be downloaded, and the reason.
    pub(crate) async fn load(
        &self,
        messages: &[Message],
        has_store: bool,
    ) -> Result<Option<Vec<Message>>, (String, FetchError)> {
        let named = named(messages, has_store);
        if named.is_empty() {
            return Ok(None);
        }
        let last = messages.iter().rposition(|message| message.role == Role::User);
        let most = self.limits.max_run_bytes;
        let (mut fetched, mut room) = (self.fetch(&named).await, most);
        let mut loaded = messages.to_vec();
        for Named { message, part, file } in named {
            let found = fetched.get(file.url.as_str()).and_then(|found| found.as_ref().ok());
            // A file that is named again is sent again.
            let left = found.and_then(|found| room.checked_sub(found.size));
            let with = match found.zip(left) {
                Some((found, left)) => {
                    room = left;
                    Part::File(FilePart {
                        media_type: found.media_type.as_str().into(),
                        url: found.url.clone(),
                        filename: file.filename.clone(),
                        metadata: None,
                    })
                }
                None if Some(message) == last => {
                    let error = match fetched.remove(file.url.as_str()) {
                        Some(Err(error)) => error,
                        Some(Ok(_)) => FetchError::TooMuch(most),
                        None => FetchError::TooMany(self.policy.max_files),
                    };
                    return Err((format!("messages[{message}].parts[{part}].url"), error));
                }
                None => Part::text(attachments::left_out(file.filename.as_deref())),
            };
            if let Some(part) = loaded.get_mut(message).and_then(|message| message.parts.get_mut(part)) {
                *part = with;
            }
        }
        Ok(Some(loaded))
    }

    /// Downloads the files, at most as many as the policy allows.
    async fn fetch<'a>(&self, named: &[Named<'a>]) -> HashMap<&'a str, Result<Fetched, FetchError>> {
        let mut urls: Vec<&str> = Vec::new();
        for named in named {
            if urls.len() < self.policy.max_files && !urls.contains(&named.file.url.as_str()) {
                urls.push(&named.file.url);
            }
        }
        let most = self.limits.max_run_bytes;
        let (mut room, mut fetched) = (most, HashMap::new());
        for urls in urls.chunks(AT_ONCE) {
            let results = join_all(urls.iter().map(|url| self.download(url))).await;
            for (url, result) in urls.iter().copied().zip(results) {
                let result = result.and_then(|file| {
                    room = room.checked_sub(file.size).ok_or(FetchError::TooMuch(most))?;
                    Ok(file)
                });
                if let Err(error) = &result {
                    let error = one_line::chain(error);
                    tracing::warn!(%error, "a file that a conversation names is not downloaded");
                }
                fetched.insert(url, result);
            }
        }
        fetched
    }
}

/// Returns the parts of the users that name a file by URL, the newest messages first.
fn named(messages: &[Message], has_store: bool) -> Vec<Named<'_>> {
    let of_users = messages.iter().enumerate().rev().filter(|(_, message)| message.role == Role::User);
    let parts = of_users.flat_map(|(index, message)| {
        message.parts.iter().enumerate().filter_map(move |(part, content)| match content {
            Part::File(file) => Some(Named { message: index, part, file }),
            _ => None,
        })
    });
    parts
        .filter(|named| {
            let url = named.file.url.as_str();
            is_remote(url) && !(has_store && FileId::of_url(url).is_some())
        })
        .collect()
}

fn is_remote(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    })
}
