//! The part of a long conversation that is sent to the model.

mod carried;
mod llm_summariser;
mod setting;
mod summaries;
pub(super) mod summary_calls;
mod window_summary;

pub(super) use carried::{Carried, metadata};
pub use llm_summariser::LlmSummariser;
pub use setting::History;
pub(super) use setting::WindowInput;
pub(super) use summary_calls::{SummaryCalls, Used};
pub(super) use window_summary::{Viewed, WindowSummary};
