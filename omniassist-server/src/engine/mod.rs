//! The assistant and its runs.
//!
//! From the lowest layer to the highest; a module names none that comes after it:
//!
//! - [`history`], [`meter`] and [`end`], then [`plan`] and [`tree`], then [`guards`] and [`stores`]
//! - [`settings`]: what the host has set
//! - [`run`]: one run
//! - [`assistant`]: the runs of an assistant
//! - [`agents`]: the assistant as one of its agents
//! - [`stored`]: runs with a store
//! - [`builder`], [`components`], [`explore`] and [`files`]: what is made of all of these

mod agents;
mod assistant;
mod builder;
mod components;
mod end;
mod explore;
mod files;
mod guards;
mod history;
mod meter;
mod plan;
mod run;
mod settings;
mod stored;
mod stores;
mod tree;

pub(crate) use assistant::NotLoaded;
pub use assistant::{Assistant, Drained, ObjectFailure};
pub use builder::{AssistantBuilder, DEFAULT_UI_INSTRUCTIONS, UiAgent, UiAgentOptions};
pub(crate) use components::{PostedAction, PostedState};
pub use explore::{AgentSession, AgentStream, InterventionError, QueryUser, UserQuery};
pub use history::{History, LlmSummariser};
pub(crate) use plan::Admission;
pub use plan::{PlanHandler, PlanParameters, Refusal, RunPlan, StepPlan};
pub(crate) use run::ClientRun;
pub use run::{Run, RunFailure, RunHandle, RunOutcome};
pub(crate) use settings::AskedWhenBusy;
pub use settings::{
    Agent, Explore, HistoryLoader, IntoSystemPrompt, OnDisconnect, PromptText, Recovery, WhenBusy,
    prompt_kind,
};
pub(crate) use stored::{Answered, Connection, LegEvents, Opened, View, store_failed};
pub use stored::{Conversations, Export, LoadedConversation, LoadedMessage, StoredUsage};
pub(crate) use stores::answers::Answer;
