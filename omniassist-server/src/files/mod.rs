//! Files that users attach and tools make (feature `files`).
//!
//! An assistant keeps files in a [`FileStore`]: a [`FolderStore`] on this machine, or an implementation over S3, a
//! database or anything else. Without [`AssistantBuilder::files`] there are no files, and the routes answer 404.
//!
//! ```
//! use omniassist_server::files::{FileLimits, FolderStore};
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::Assistant;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("omniassist-doc-{}", std::process::id()));
//! let mut limits = FileLimits::default();
//! limits.max_file_bytes = 10 << 20;
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .files(FolderStore::open(&folder)?)
//!     .file_limits(limits)
//!     .allow_anonymous()
//!     .build()?;
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Upload
//!
//! `POST /files` takes one file as the raw body, with its `Content-Type` and `?filename=`, or several as
//! `multipart/form-data`. The body is passed on to the store in chunks of at most 64 KiB. The answer has one entry for each
//! file, which is a `FileUIPart` of the AI SDK with some more fields:
//!
//! ```json
//! {"files": [{
//!   "type": "file", "id": "file_…", "url": "/assistant/files/file_…",
//!   "mediaType": "image/png", "filename": "chart.png", "size": 48213, "expiresAt": 1798104600000
//! }]}
//! ```
//!
//! ```js
//! const answer = await fetch("/assistant/files", { method: "POST", body: new FormData(form) });
//! const { files } = await answer.json();
//! sendMessage({ text: "What does the chart show?", files });
//! ```
//!
//! The media type comes from the first bytes of the content, and only for text from the client. A type that
//! [`FileLimits::media_types`] does not list is refused.
//!
//! # Download
//!
//! `GET /files/{id}` answers the content to the principal that uploaded it. Everybody else gets the 404 of an unknown id.
//! Anonymous clients share one principal; there the random id is the only protection. The content is always an attachment
//! in a sandbox, and has the media type `application/octet-stream` if a browser could run it (HTML, SVG, XML, scripts).
//! `DELETE /files/{id}` deletes the file, and answers 204.
//!
//! # In a run
//!
//! A file part whose URL is that of a stored file, as a path or with a host, is replaced by the content before the model is
//! called. The model's API gets it in its own form:
//!
//! | content | Responses | Chat Completions | Anthropic | Gemini |
//! |---|---|---|---|---|
//! | images | `input_image` | `image_url` | `image` | `inlineData` |
//! | PDF | `input_file` | `file` | `document` | `inlineData` |
//! | WAV, MP3 | a note | `input_audio` | a note | `inlineData` |
//! | text | `input_text` | `text` | `document` | `inlineData` |
//!
//! A provider that is built with
#![cfg_attr(
    feature = "openai",
    doc = "[`upload_files_over`](crate::provider::ApiProviderBuilder::upload_files_over)"
)]
#![cfg_attr(not(feature = "openai"), doc = "`upload_files_over`")]
//! uploads large files to its files API once, and names them by id.
//!
//! A request is answered 400 if a file of its last message is missing, expired or another principal's; the error names the
//! part. In an older message, the model reads a note in place of such a file, so that the conversation can continue.
//! `data:` URLs work as before, and other URLs are passed on to the provider.
//!
//! # Files at URLs
//!
//! The server fetches no URL, unless
#![cfg_attr(feature = "__transport", doc = "[`fetch_files`](crate::AssistantBuilder::fetch_files)")]
#![cfg_attr(not(feature = "__transport"), doc = "`fetch_files`")]
//! allows it. Then the model receives the content of `https://` URLs of the users' messages, also from a provider that takes
//! no URLs. Only public servers are contacted, and the content has the same types as uploads.
//!
//! # Files that a model makes
//!
//! Images and other files in the model's answer go into the store, for the principal of the run. The client gets a file part
//! with the URL of the stored file in place of a `data:` URL, so its next request stays small. In later turns the model sees
//! these files again, at the beginning of the user's next message. A file that a [limit](FileLimits) or the store refuses
//! remains a `data:` URL, which the model sees again too. [`AssistantBuilder::store_generated_files`] turns the storage off.
//!
//! A tool stores a file with [`RunContext::store_file`](crate::RunContext::store_file).
//!
//! [`AssistantBuilder::files`]: crate::AssistantBuilder::files
//! [`AssistantBuilder::store_generated_files`]: crate::AssistantBuilder::store_generated_files

mod attachments;
mod content_type;
mod error;
#[cfg(feature = "__transport")]
mod fetch;
mod folder;
mod id;
mod library;
mod limits;
mod name;
mod settings;
mod store;
mod stored;
mod upload;

pub(crate) use content_type::{essence, served};
pub use error::FileError;
pub(crate) use error::Kind;
#[cfg(feature = "__transport")]
pub use fetch::FetchPolicy;
#[cfg(feature = "__transport")]
pub(crate) use fetch::Fetcher;
pub use folder::FolderStore;
pub use id::{FileId, FileKey};
pub(crate) use library::Library;
pub use limits::FileLimits;
pub(crate) use settings::FileSettings;
pub use store::{FileContent, FileFuture, FileInfo, FileStore, FileUsage, FileWriter};
pub use stored::StoredFile;
pub(crate) use upload::{CHUNK_BYTES, Upload};
