//! The assistant and its runs.

mod admission;
mod agent;
mod agent_lookup;
mod agent_records;
mod assistant;
mod builder;
mod client_queue;
mod config;
mod delegation;
mod drain;
mod driver;
mod end;
mod explore;
mod fetched;
mod files;
mod gate;
#[cfg(feature = "files")]
mod generated;
mod guards;
mod handoff;
mod handoff_lookup;
mod history;
mod hook;
mod inner_call;
mod live;
mod llm_summariser;
mod loaded;
mod loader;
mod meter;
mod object;
mod plan;
mod preparation;
mod prompt;
mod recording;
mod run;
mod run_metadata;
mod script;
mod seals;
mod setup;
mod shape;
mod stored;
mod suspended;
mod tool_call;
mod tree;
mod verification;
mod when_busy;

pub use agent::Agent;
pub use assistant::Assistant;
pub use builder::AssistantBuilder;
pub use drain::Drained;
pub use explore::{AgentSession, AgentStream, Explore, InterventionError, QueryUser, UserQuery};
pub use history::History;
pub use llm_summariser::LlmSummariser;
pub use loader::HistoryLoader;
pub(crate) use loader::NotLoaded;
pub use object::ObjectFailure;
pub(crate) use plan::Admission;
pub use plan::{PlanHandler, PlanParameters, Refusal, RunPlan, StepPlan};
pub use prompt::{IntoSystemPrompt, PromptText, prompt_kind};
pub use run::{Run, RunFailure, RunHandle, RunOutcome};
pub(crate) use stored::{Answer, Answered, Connection, Opened, Rest, View, store_failed};
pub use stored::{
    Conversations, Export, LoadedConversation, LoadedMessage, OnDisconnect, Recovery, StoredUsage,
};
pub(crate) use when_busy::AskedWhenBusy;
pub use when_busy::WhenBusy;
