//! The part of a long conversation that is sent to the model.

mod carried;
mod setting;
mod summaries;
mod window_summary;

pub(super) use carried::{Carried, metadata};
pub use setting::History;
pub(super) use setting::WindowInput;
pub(super) use window_summary::{Viewed, WindowSummary};
