//! The settings of an assistant and of its agents, and what its runs share.

pub(super) mod agent;
mod config;
mod configured_agents;
mod explore;
mod history_loader;
mod hook;
mod json_type;
mod on_disconnect;
mod prompt;
mod recovery;
pub(super) mod run_metadata;
mod seals;
mod setup;
mod when_busy;

pub use agent::Agent;
pub(super) use agent::{NamedAgent, NamedAgents};
pub(super) use config::Config;
pub(super) use configured_agents::{AgentTools, ConfiguredAgents};
pub use explore::Explore;
pub use history_loader::HistoryLoader;
pub(super) use history_loader::LoaderHook;
pub(super) use hook::RunHook;
pub(super) use json_type::JsonType;
pub use on_disconnect::OnDisconnect;
pub use prompt::{IntoSystemPrompt, PromptText, prompt_kind};
pub use recovery::Recovery;
pub(super) use run_metadata::RunMetadata;
pub(super) use seals::Seals;
pub(super) use setup::Setup;
pub(crate) use when_busy::AskedWhenBusy;
pub use when_busy::WhenBusy;
