//! Tools of MCP servers, which become tools of an assistant.
//!
//! An [`McpServer`] is a [source of tools](omniassist_server::tool::source). Its tools have the name of the server as prefix:
//! `open` of `docs` is `docs_open`.
//!
//! ```
//! use std::process::Command;
//!
//! use omniassist_mcp::client::{McpAuth, McpServer};
//! use omniassist_server::Assistant;
//! use omniassist_server::testing::ScriptedProvider;
//!
//! let files = McpServer::stdio("files", Command::new("mcp-server-filesystem").arg("/srv/docs"));
//! let docs = McpServer::http("docs", "https://mcp.example.com/mcp").auth(McpAuth::bearer("token"));
//!
//! // Neither server is there. The assistant starts, and has their tools when they are.
//! let assistant = Assistant::builder(ScriptedProvider::new()).tool_source(files).tool_source(docs).build()?;
//! assert_eq!(assistant.tools().sources().len(), 2);
//! # Ok::<(), omniassist_server::Error>(())
//! ```
//!
//! # Trust
//!
//! A server is another party. What it sends reaches the model, so it is treated as data:
//!
//! - Every call needs the approval of the user, unless [`approval`](McpServer::approval) or
//!   [`trust_annotations`](McpServer::trust_annotations) say otherwise.
//! - Descriptions have no hidden characters, and at most 2 KiB. A tool whose schema has them in names or values is withheld.
//!   [`Pins`] find definitions that have changed, and can withhold them. A tool that a server changes during a run cannot be
//!   called in this run.
//! - The model receives a result or an error as an object that names the server, with at most
//!   [`max_output_bytes`](McpServer::max_output_bytes) of data. Images, sounds and embedded files become
//!   [files](omniassist_server::files) of the user, if the assistant has a store of them. Otherwise the model reads a line in
//!   their place. Links are never followed.
//! - A tool whose definition cannot be read is withheld, and so is one that can only be called as a task.
//! - A list is refused as a whole if it has more than 10,000 tools, 64 pages or 8 MiB, or takes more than 30 s.
//! - A server can ask the user during a call only. Sampling and roots are not offered.
//!
//! # Questions
//!
//! A server can ask the user during a call (elicitation). The user sees a [form](omniassist_server::tool::UserForm) whose first
//! line names the server; hidden characters are removed, and a form of more than 16 KiB is refused. A page that the server
//! wants opened is a form without fields, with the host and the URL. It must be `https`, or `http` on this machine, and is
//! never fetched. A call asks at most 8 times.
//!
//! With the version 2026-07-28, the call goes on at any server of the application with the same keys or the same store. Earlier
//! servers hold the call open while they wait. It is held in this process for 5 minutes, 64 calls at a time and 8 of a user.
//! It ends with the tree of agents that waits, if it is a call of one. After that, or at another server, the call is made again
//! with the user's answers if the tool's annotations are trusted and allow it. Otherwise the model reads that the call was
//! lost. A process has one stream for the calls of all users. A question on it is declined while calls of more than one user
//! are open, or have ended without an answer within 5 minutes.
//!
//! A call whose user [cannot be asked](omniassist_server::tool::ToolContext::can_ask_user) says so to a server of version
//! 2026-07-28. It declines the questions of earlier servers.
//!
//! # Resources and prompts
//!
//! A host reads them with [`McpServer::read`] and [`McpServer::prompt`], and shows them to its user. A model reads resources
//! only if [`resource_tools`](McpServer::resource_tools) is set.
//!
//! # Apps
//!
//! With [`McpServer::apps`], the server learns that its apps (the extension `io.modelcontextprotocol/ui`) can be shown. A call
//! of a tool with an app then tells the client of it, and the assistant serves the app's document below `/apps/{server}`; see
//! [`omniassist_server::http`](omniassist_server::http#apps). A document has at most 2 MiB, and is kept for 60 s. An app may
//! call the tools of its own server, which need the same approvals. It gets their results as the server sent them.
//!
//! Tools that are for apps alone are never offered to a model, with this setting and without it. The address of a document and
//! who may call a tool are part of the pinned definition. The document itself is not pinned.
//!
//! # Users with accounts
//!
//! With [`McpAuth::oauth`], each user has tokens of OAuth 2.1. A user without a token sees no tools of the server, and
//! `GET /manifest.json` says `authorization_needed` for the source. The application has two routes:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use omniassist_mcp::client::{McpAuth, McpError, McpServer, MemoryCredentialStore, OAuth};
//! use omniassist_server::Principal;
//!
//! fn server() -> Arc<McpServer> {
//!     let oauth = OAuth::new(MemoryCredentialStore::new()).redirect("https://app.example.com/oauth/mcp");
//!     Arc::new(McpServer::http("docs", "https://mcp.example.com/mcp").auth(McpAuth::oauth(oauth)))
//! }
//!
//! /// The user wants to connect: the response redirects the browser to this URL.
//! async fn connect(docs: &McpServer, user: &Principal) -> Result<String, McpError> {
//!     docs.authorization_url(user).await
//! }
//!
//! /// The browser is back at `/oauth/mcp`, with this query. The user is the one that the application has authenticated.
//! async fn finish(docs: &McpServer, user: &Principal, query: &str) -> Result<(), McpError> {
//!     docs.finish_authorization(user, query).await
//! }
//! ```
//!
//! The URLs of metadata, registration and tokens come from servers, so an
//! [`OutboundPolicy`](omniassist_server::outbound::OutboundPolicy) applies to them. A tool whose user has lost the token, or
//! needs another scope, gives the model an error that says so; its source is an [`McpError`] with
//! [`is_authorization_needed`](McpError::is_authorization_needed).
//!
//! # Failures
//!
//! Each request has a deadline. A call is repeated once if the server certainly did not run it: the session or the credentials
//! were refused, or there was no connection. A session is refused by status 404, or by status 400 with the error of the
//! TypeScript SDK for sessions. Any other status is an answer to the call: the model reads it, and the connection stays. If
//! the connection ends during a call, the model reads that the server may or may not have acted, and the call is not repeated,
//! unless the tool's annotations are trusted and allow it.
//!
//! The errors that models read have an [`McpError`] as source, for the log.

mod app;
mod app_meta;
mod app_source;
mod approval;
mod auth;
mod authorization;
mod call;
mod cleaned;
mod config;
mod connection;
mod definition;
mod elicitation;
mod error;
mod http;
mod hub;
mod link;
mod loopback;
mod media;
mod oauth;
mod offered;
mod output;
mod pins;
mod pool;
mod server;
mod stdio;
mod tasks;

pub use approval::McpApproval;
pub use auth::McpAuth;
pub use error::McpError;
pub use oauth::{
    CredentialFuture, CredentialKey, CredentialKind, CredentialStore, MemoryCredentialStore, OAuth,
};
pub use offered::{McpArgument, McpBody, McpContent, McpMessage, McpPrompt, McpResource};
pub use pins::{PendingTool, PinPolicy, Pins};
pub use server::McpServer;
