//! The assistant and its runs.

mod assistant;
mod builder;
mod client_queue;
mod config;
mod drain;
mod driver;
mod end;
mod files;
mod guards;
mod hook;
mod live;
mod llm_summariser;
mod meter;
mod object;
mod plan;
mod preparation;
mod prompt;
mod recording;
mod run;
mod run_metadata;
mod seals;
mod setup;
mod verification;
mod when_busy;

pub use assistant::Assistant;
pub use builder::AssistantBuilder;
pub use drain::Drained;
pub use llm_summariser::LlmSummariser;
pub use object::ObjectFailure;
pub(crate) use plan::Admission;
pub use plan::{PlanHandler, PlanParameters, Refusal, RunPlan, StepPlan};
pub use prompt::{IntoSystemPrompt, PromptText, prompt_kind};
pub use run::{Run, RunFailure, RunHandle, RunOutcome};
pub use when_busy::WhenBusy;
