//! An assistant as an MCP server.
//!
//! `expose` is the builder and the endpoint, `handler` the methods of the protocol. `offer` finds what a caller may call,
//! `call` runs it, `question` asks the user of the client, and `pending` is the call that waits meanwhile.

mod arguments;
mod call;
mod caller;
mod expose;
mod handler;
mod offer;
mod outcome;
mod pending;
mod progress;
mod question;
mod refusal;
mod settings;

pub use expose::Expose;
