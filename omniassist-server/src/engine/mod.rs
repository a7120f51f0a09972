//! The assistant and its runs.

mod assistant;
mod builder;
mod drain;
mod driver;
mod facts;
mod history;
mod live;
mod meter;
mod prompt;
mod run;
mod seals;
mod slots;
mod summary;

pub use assistant::Assistant;
pub use builder::AssistantBuilder;
pub use drain::Drained;
pub use live::WhenBusy;
pub use prompt::{IntoSystemPrompt, PromptText, prompt_kind};
pub use run::{Run, RunFailure, RunHandle, RunOutcome};
pub use summary::LlmSummariser;
