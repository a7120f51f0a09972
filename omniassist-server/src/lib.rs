//! The OmniAssist engine: model providers, tools, the run loop and one framework-neutral HTTP service.
//!
//! Most applications depend on an adapter instead, which re-exports what they need from here. Depend on this crate directly
//! to run an assistant without HTTP, to write a provider, or to write an adapter.
//!
//! - **Adapters:** `omniassist-axum`, `omniassist-actix`, and `omniassist-hyper` for hyper and other tower stacks.
//! - **Stores** of conversations and runs: `omniassist-sqlite` for a file, and `omniassist-postgres` for servers that share a
//!   database. With `omniassist-redis`, servers also share the text of running answers, rate limits and budgets.
//!
//! The [`guide`] explains the features that most applications need after their first tool. The [HTTP service](crate::http)
//! documents its routes and errors.
//!
//! # Cargo features
//!
//! The default features are `openai` and `tls-aws-lc`. The adapters have the same features, and `widget` is a default one
//! there. In addition, their features `sqlite`, `postgres` and `redis` re-export the stores and the shared limits.
//!
//! | feature | adds |
//! |---|---|
//! | `openai` | `OpenAiProvider` and `OpenAiChatProvider`, for OpenAI and servers with its APIs |
//! | `anthropic` | `AnthropicProvider` |
//! | `gemini` | `GeminiProvider` |
//! | `tls-aws-lc`, `tls-ring`, `native-tls` | the TLS of connections to a provider: rustls with aws-lc, rustls with ring, or the library of the operating system |
//! | `gzip` | answers of a provider that a gateway has compressed |
//! | `agent-files` | `FileAgents`: agents in TOML and JSON files |
//! | `components` | `ui::builtin`: twelve components that a model can show |
//! | `encryption` | `encryption::Encrypted`: encryption of stored conversations |
//! | `files` | uploads of files, and files in conversations |
//! | `playground` | `GET /playground`: a page for developers, with the events of each run. It implies `widget` |
//! | `rate-limit` | `throttle::InMemoryRateLimit`: a rate limit for each principal |
//! | `testing` | a scripted provider, a fake provider server, recordings, and the test suite for stores |
//! | `widget` | `GET /widget.js`: a chat for web pages, and `widget::tag` |
//! | `ws` | `GET /ws`: a tree of agents over a WebSocket |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod access;
pub mod afs;
pub mod agent_config;
pub mod agents;
pub mod audit;
pub mod bridge;
mod cancel;
mod clock;
pub mod component;
mod cost;
mod decoder;
#[cfg(feature = "encryption")]
pub mod encryption;
pub mod endpoint;
mod engine;
mod error;
#[doc(hidden)]
pub mod failpoint;
#[cfg(feature = "files")]
pub mod files;
pub mod guide;
pub mod http;
mod http_options;
mod instances;
#[cfg(any(feature = "files", feature = "__transport"))]
mod lenient_base64;
mod mount_path;
pub mod observe;
mod one_line;
#[cfg(feature = "outbound")]
pub mod outbound;
mod page_manifest;
mod panics;
#[cfg(feature = "playground")]
pub mod playground;
mod principal;
pub mod provider;
mod quota;
mod run_context;
pub mod seal;
mod shared_state;
pub mod store;
mod sync;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
pub mod throttle;
mod timer;
pub mod tool;
#[cfg(feature = "__transport")]
mod transport;
pub mod ui;
mod visibility;
mod wake_flag;
#[cfg(feature = "widget")]
pub mod widget;

pub use access::{AuthError, AuthRequest, Authenticate, Cors, PeerAddr};
#[cfg(feature = "agent-files")]
pub use agent_config::FileAgents;
pub use agent_config::{AgentCatalog, AgentConfig, AgentLoader};
pub use cancel::CancellationToken;
pub use component::Component;
pub use cost::{Cost, Price, Prices};
pub use endpoint::{ClientSetting, McpEndpoint, ObjectEndpoint, OpenAiEndpoint, ProtectedResource};
pub use engine::{
    Agent, Assistant, AssistantBuilder, Conversations, DEFAULT_UI_INSTRUCTIONS, Drained, Export, History,
    HistoryLoader, IntoSystemPrompt, LlmSummariser, LoadedConversation, LoadedMessage, ObjectFailure,
    OnDisconnect, PlanHandler, PlanParameters, PromptText, Recovery, Refusal, Run, RunFailure, RunHandle,
    RunOutcome, RunPlan, StepPlan, StoredUsage, UiAgent, UiAgentOptions, WhenBusy, prompt_kind,
};
pub use error::{BoxError, Error, ProviderErrorKind, Result};
pub use omniassist_core as core;
pub use omniassist_core::tree::{AgentBudget, TreeLimits};
pub use page_manifest::PageManifest;
pub use principal::Principal;
#[cfg(feature = "anthropic")]
pub use provider::AnthropicProvider;
#[cfg(feature = "gemini")]
pub use provider::GeminiProvider;
pub use provider::{LlmProvider, LlmStream};
#[cfg(feature = "openai")]
pub use provider::{OpenAiChatProvider, OpenAiProvider};
pub use run_context::RunContext;
pub use seal::SealKeys;
pub use tool::{Agents, Approval, Args, Extension, Json, State, Tool, ToolContext, ToolError};
