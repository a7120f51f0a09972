//! Large files of a conversation, uploaded to the provider once and named by id in its requests.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use omniassist_core::transcript::UserContent;
use omniassist_core::{LlmEvent, LlmPayload, Text, TranscriptItem};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use uuid::Uuid;

use super::files_api::{self, FilesApi};
use super::settings::{Endpoint, Settings};
use crate::sync::lock;
use crate::{Error, ProviderErrorKind, Result, one_line};

/// The maximum number of remembered files.
const MAX_KNOWN: usize = 1_000;

/// The time after which a file that could not be uploaded is uploaded again. Until then it stays in the requests.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The digest of a file's media type, name and content. It covers the name because the model may read it, and must not
/// see the name that another user gave to the same content.
type Digest = [u8; 32];

/// The uploads of one provider with one API key.
pub(super) struct Uploads {
    api: &'static FilesApi,
    endpoint: Endpoint,
    boundary: String,
    /// The size in bytes above which files are uploaded.
    over: usize,
    /// The known files. Concurrent runs that need the same file wait for one upload.
    known: Mutex<HashMap<Digest, Arc<OnceCell<Uploaded>>>>,
}

struct Uploaded {
    /// `None` if the file could not be uploaded.
    id: Option<Text>,
    until: Option<Instant>,
}

impl Uploaded {
    fn failed() -> Self {
        Self { id: None, until: Instant::now().checked_add(AFTER_FAILURE) }
    }
}

/// A file that a request names by id.
pub(super) struct Named {
    digest: Digest,
    id: Text,
}

/// A file of a transcript that is large enough to be uploaded.
#[derive(Clone)]
struct Large {
    item: usize,
    part: usize,
    media_type: &'static str,
    url: Text,
    filename: Option<Text>,
}

impl Uploads {
    pub(super) fn new(api: &'static FilesApi, settings: &Settings, over: usize) -> Result<Self> {
        let boundary = format!("omniassist-{}", Uuid::now_v7().simple());
        let endpoint = settings.bind(api.path)?.for_documents(&api.headers(&boundary))?;
        Ok(Self { api, endpoint, boundary, over, known: Mutex::default() })
    }

    /// Returns `true` if a payload has a file to upload.
    pub(super) fn concerns(&self, payload: &LlmPayload) -> bool {
        self.large(payload).next().is_some()
    }

    fn large<'a>(&'a self, payload: &'a LlmPayload) -> impl Iterator<Item = Large> + 'a {
        payload.transcript.iter().enumerate().flat_map(move |(item, content)| {
            let content = match content {
                TranscriptItem::User { content } => content.as_slice(),
                _ => &[],
            };
            content.iter().enumerate().filter_map(move |(part, content)| {
                let UserContent::File { media_type, url, filename } = content else { return None };
                let (stated, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
                let stated = if stated.is_empty() { media_type.as_str() } else { stated };
                let media_type = *self.api.media_types.iter().find(|known| **known == stated)?;
                let (url, filename) = (url.clone(), filename.clone());
                (data.len() / 4 * 3 > self.over).then_some(Large { item, part, media_type, url, filename })
            })
        })
    }

    /// Uploads the large files of a payload that are not known, and names them by id. A file that cannot be uploaded stays
    /// in the request.
    pub(super) async fn replace(&self, payload: &LlmPayload) -> (LlmPayload, Vec<Named>) {
        let mut transcript = payload.transcript.to_vec();
        let mut named = Vec::new();
        let all: Vec<Large> = self.large(payload).collect();
        for file in all {
            let (item, part, media_type) = (file.item, file.part, file.media_type);
            let Some((digest, id)) = self.find(file).await else { continue };
            if let Some(TranscriptItem::User { content }) = transcript.get_mut(item)
                && let Some(UserContent::File { media_type: of, url, .. }) = content.get_mut(part)
            {
                (*of, *url) = (Text::from_static(media_type), files_api::url_of(&id));
            }
            named.push(Named { digest, id });
        }
        let mut sent = payload.clone();
        sent.transcript = transcript.into();
        (sent, named)
    }

    async fn find(&self, file: Large) -> Option<(Digest, Text)> {
        let hashed = file.clone();
        let digest = blocking(move || digest(&hashed)).await.ok()?;
        let cell = self.cell(digest);
        let uploaded = cell.get_or_init(|| self.upload_or_report(file)).await;
        Some((digest, uploaded.id.clone()?))
    }

    fn cell(&self, digest: Digest) -> Arc<OnceCell<Uploaded>> {
        let now = Instant::now();
        let is_over = |cell: &OnceCell<Uploaded>| {
            cell.get().and_then(|uploaded| uploaded.until).is_some_and(|until| until <= now)
        };
        let mut known = lock(&self.known);
        if known.len() >= MAX_KNOWN && !known.contains_key(&digest) {
            known.retain(|_, cell| !is_over(cell));
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
        }
        let cell = known.entry(digest).or_default();
        if is_over(cell) {
            *cell = Arc::default();
        }
        Arc::clone(cell)
    }

    /// Uploads a file. A failure is remembered too, so that a provider without the API gets no upload for each model
    /// call.
    async fn upload_or_report(&self, file: Large) -> Uploaded {
        self.upload(file).await.unwrap_or_else(|error| {
            let error = one_line::chain(&error);
            tracing::warn!(%error, "a file cannot be uploaded to the provider, and stays in the requests");
            Uploaded::failed()
        })
    }

    async fn upload(&self, file: Large) -> Result<Uploaded> {
        let (api, boundary) = (self.api, self.boundary.clone());
        let body: Option<Bytes> = blocking(move || {
            let (_, data) = file.url.split_once(";base64,")?;
            let name = file.filename.as_deref().unwrap_or("file");
            api.body(&boundary, name, file.media_type, data)
        })
        .await?;
        let body = body.ok_or_else(|| Error::configuration("a `data:` URL has no valid base64"))?;
        // The lifetime of a file begins before its upload, not after it.
        let until = api.lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime));
        let mut answer = self.endpoint.send(self.endpoint.url("")?, body, move || api.reader());
        while let Some(event) = answer.next().await {
            if let LlmEvent::Start { id: Some(id), .. } = event? {
                return Ok(Uploaded { id: Some(id), until });
            }
        }
        Err(Error::provider(ProviderErrorKind::Protocol))
    }

    /// Forgets the files that the provider no longer has, so that they are uploaded again. If `is_repeated`, they stay in the
    /// requests for a while. Returns `true` if the error names any.
    pub(super) fn forget(&self, error: &Error, named: &[Named], is_repeated: bool) -> bool {
        let is_refused = error.status().is_some_and(|status| (400..500).contains(&status));
        let detail = error.detail().unwrap_or_default();
        let is_named = |named: &&Named| {
            let name = named.id.rsplit('/').next().unwrap_or_default();
            is_refused && !name.is_empty() && detail.contains(name)
        };
        let gone: Vec<&Named> = named.iter().filter(is_named).collect();
        let mut known = lock(&self.known);
        for named in &gone {
            let is_same = |cell: &Arc<OnceCell<Uploaded>>| {
                cell.get().is_some_and(|file| file.id.as_ref() == Some(&named.id))
            };
            // Another run may have uploaded it again.
            if known.get(&named.digest).is_some_and(is_same) {
                let failed = is_repeated.then(Uploaded::failed);
                known.insert(named.digest, Arc::new(OnceCell::new_with(failed)));
            }
        }
        !gone.is_empty()
    }
}

impl fmt::Debug for Uploads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uploads").field("over", &self.over).finish_non_exhaustive()
    }
}

fn digest(file: &Large) -> Digest {
    let (_, data) = file.url.split_once(";base64,").unwrap_or_default();
    let name = file.filename.as_deref().unwrap_or_default();
    let mut digest = Sha256::new();
    for text in [file.media_type, name] {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    digest.update(data);
    digest.finalize().into()
}

/// Runs CPU-intensive work on a thread that may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    spawn_blocking(work)
        .await
        .map_err(|error| Error::configuration("a file cannot be read").with_source(error))
}
