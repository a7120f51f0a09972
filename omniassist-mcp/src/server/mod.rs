//! An assistant as an MCP server.
//!
//! `expose` is the builder and the endpoint, `stdio` the same over standard input and output, and `handler` the methods of the
//! protocol. `offer` finds what a caller may call, `call` runs it, `question` asks the user of the client, and `pending` is the
//! call that waits meanwhile. `resource/` and `prompt/` are what the host offers beside tools, each in a `catalogue`.

mod arguments;
mod attachments;
mod call;
mod caller;
mod catalogue;
mod completion;
mod content;
mod expose;
mod handler;
mod offer;
mod outcome;
mod page;
mod pending;
mod progress;
mod prompt;
mod question;
mod refusal;
mod resource;
mod settings;
mod stdio;
mod unread;
mod visibility;

pub use attachments::Attachments;
pub use completion::CompletionRequest;
pub use content::Content;
pub use expose::Expose;
pub use prompt::{Prompt, PromptMessage, PromptRequest};
pub use resource::{Resource, ResourceContent, ResourceRequest};
