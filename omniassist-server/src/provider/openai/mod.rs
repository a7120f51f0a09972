//! OpenAI, and every server that speaks one of its two APIs.
//!
//! - [`OpenAiProvider`]: the Responses API, for OpenAI's own models.
//! - [`OpenAiChatProvider`]: Chat Completions, for any compatible server.
//!
//! Compatible servers differ: [`Vendor`] is the table of how.
//!
//! Both are a request encoder, a pooled transport and a decoder without I/O, which is public too
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

/// The setters that the builders of OpenAI's two APIs have.
macro_rules! openai_setters {
    () => {
        common_setters! {
            key: "`Authorization: Bearer`",
            base_url: "`/v1` included, as in OpenAI's own SDKs. Default: `https://api.openai.com/v1`.",
        }

        /// The organization that usage is counted for. Default: the key's own.
        pub fn organization(self, id: impl Into<String>) -> Self {
            self.header("openai-organization", id)
        }

        /// The project that usage is counted for. Default: the key's own.
        pub fn project(self, id: impl Into<String>) -> Self {
            self.header("openai-project", id)
        }
    };
}

mod chat;
mod metadata;
mod responses;
mod usage;

pub use chat::{
    ChatDecoder, ConstrainedDecoder, DEFAULT_CHAT_MODEL, OpenAiChatProvider, OpenAiChatProviderBuilder,
    Vendor,
};
pub use responses::{DEFAULT_RESPONSES_MODEL, OpenAiProvider, OpenAiProviderBuilder, ResponsesDecoder};

use super::settings::{Api, KeyHeader};

/// OpenAI's own API, and how it is set up from the environment.
pub(in crate::provider) static OPENAI: Api = Api {
    base_url: "https://api.openai.com/v1",
    base_url_variable: "OPENAI_BASE_URL",
    key_variable: "OPENAI_API_KEY",
    key_header: KeyHeader::Bearer,
};
