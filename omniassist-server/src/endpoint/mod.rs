//! What the host says of single endpoints of the HTTP service: how the assistant looks to OpenAI's clients, and which
//! objects it makes.
//!
//! Neither is needed. Without settings, [`OpenAiEndpoint`] is served with its defaults, and no object is made.
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
//!     .openai_endpoint(OpenAiEndpoint::new().model("shop").honour(ClientSetting::MaxTokens))
//!     .object(ObjectEndpoint::new::<Invoice>("invoice", "Read the invoice in the input."))
//!     .build()?;
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod object;
mod openai;

pub use object::ObjectEndpoint;
pub use openai::{ClientSetting, OpenAiEndpoint};
