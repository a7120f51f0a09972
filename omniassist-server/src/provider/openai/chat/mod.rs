//! Chat Completions, as OpenAI and compatible servers implement it.
//!
//! Protocol: <https://platform.openai.com/docs/api-reference/chat-streaming>.

mod calls;
mod compat;
mod constrained;
mod decode;
mod decoder;
mod details;
mod encode;
mod provider;
mod schema;
mod think;
mod wire;

pub use compat::{DEFAULT_CHAT_MODEL, Vendor};
pub use decoder::ChatDecoder;
pub(super) use encode::ChatApi;
pub use provider::{OpenAiChatProvider, OpenAiChatProviderBuilder};
