//! OpenAI, and every server with one of its two APIs.
//!
//! - [`OpenAiProvider`]: the Responses API, for OpenAI's own models.
//! - [`OpenAiChatProvider`]: Chat Completions, for any compatible server.
//!
//! [`Vendor`] is the table of the differences between compatible servers.
//!
//! Each provider consists of a request encoder, a pooled transport and a decoder without I/O. The decoders are public
//! ([`ResponsesDecoder`], [`ChatDecoder`]).
//!
//! ```
//! use omniassist_server::core::{LlmPayload, TranscriptItem};
//! use omniassist_server::{OpenAiChatProvider, OpenAiProvider};
//!
//! let openai = OpenAiProvider::new("sk-…")?;
//! let local = OpenAiChatProvider::builder().base_url("http://127.0.0.1:8080/v1").model("qwen3").build()?;
//!
//! let payload = LlmPayload::new([TranscriptItem::user("Hello")]);
//! assert!(openai.request_body(&payload)?.starts_with(br#"{"model":"gpt-5-mini""#));
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod chat;
mod ids;
mod metadata;
mod model;
mod responses;
mod strict;
mod usage;

pub use chat::{ChatDecoder, DEFAULT_CHAT_MODEL, OpenAiChatProvider, OpenAiChatProviderBuilder, Vendor};
pub use responses::{DEFAULT_RESPONSES_MODEL, OpenAiProvider, OpenAiProviderBuilder, ResponsesDecoder};

use std::time::Duration;

use super::api::{Api, ApiProviderBuilder};
use super::files_api::{FilesApi, Form};
use super::settings::{KeyHeader, Location};

/// OpenAI's own server.
const fn openai(name: &'static str, model: &'static str) -> Location {
    Location {
        name,
        model: Some(model),
        base_url: "https://api.openai.com/v1",
        base_url_variable: "OPENAI_BASE_URL",
        key_variables: &["OPENAI_API_KEY"],
        key_header: KeyHeader::Bearer,
    }
}

/// OpenAI's API for files. Files are deleted after 30 days, which is the longest time that can be asked for.
/// <https://platform.openai.com/docs/api-reference/files/create>
const fn files_api(media_types: &'static [&'static str]) -> FilesApi {
    FilesApi {
        path: "/files",
        form: Form::Data(&[
            ("purpose", "user_data"),
            ("expires_after[anchor]", "created_at"),
            ("expires_after[seconds]", "2592000"),
        ]),
        lifetime: Some(Duration::from_secs(2_592_000 - 60 * 60)),
        id: "/id",
        media_types,
    }
}

/// An API of OpenAI.
pub trait OpenAiApi: Api {}

impl OpenAiApi for chat::ChatApi {}
impl OpenAiApi for responses::ResponsesApi {}

impl<A: OpenAiApi> ApiProviderBuilder<A> {
    /// Sets the organization to which usage is billed. Default: that of the key.
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Sets the project to which usage is billed. Default: that of the key.
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }
}
