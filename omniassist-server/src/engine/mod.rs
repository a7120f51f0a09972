//! The assistant and its runs.

mod assistant;
mod builder;
mod config;
mod drain;
mod driver;
mod live;
mod meter;
mod prompt;
mod run;
mod run_metadata;
mod seals;
mod slots;
mod summary;
mod verification;

pub use assistant::Assistant;
pub use builder::AssistantBuilder;
pub use drain::Drained;
pub use live::WhenBusy;
pub use prompt::{IntoSystemPrompt, PromptText, prompt_kind};
pub use run::{Run, RunFailure, RunHandle, RunOutcome};
pub use summary::LlmSummariser;
