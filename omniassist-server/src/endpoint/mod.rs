//! Settings of single HTTP endpoints: the assistant as a model for OpenAI's clients, and the objects that it makes.
//!
//! [`McpEndpoint`] is the seam for the Model Context Protocol, which another crate implements.
//!
//! All are optional. Without settings, [`OpenAiEndpoint`] is served with its defaults, and there are no objects.
//!
//! ```
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::{Assistant, ClientSetting, ObjectEndpoint, OpenAiEndpoint};
//!
//! #[derive(schemars::JsonSchema)]
//! struct Invoice {
//!     /// In cents.
//!     total: u64,
//! }
//!
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .openai_endpoint(OpenAiEndpoint::new().model("shop").allow(ClientSetting::MaxTokens))
//!     .object(ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice in the input."))
//!     .build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod mcp;
mod object;
mod openai;
mod protected_resource;

pub(crate) use mcp::challenge;
pub use mcp::{McpAnswer, McpBody, McpEndpoint};
pub use object::ObjectEndpoint;
pub use openai::{ClientSetting, OpenAiEndpoint};
pub(crate) use protected_resource::METADATA_PATH;
pub use protected_resource::ProtectedResource;
