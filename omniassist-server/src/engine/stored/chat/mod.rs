//! Stored conversations: their messages and branches, for posts and for the application.

pub(super) mod branches;
mod conversations;
mod export;
pub(super) mod message;

pub(crate) use conversations::store_failed;
pub use conversations::{Conversations, LoadedConversation, LoadedMessage};
pub use export::Export;
pub(super) use message::{message, message_id, messages, stored_message, stored_usage, usage_of};
