//! The assistant, and the requests to it in process: runs, objects and calls of tools.

mod admission;
mod drain;
mod handle;
mod load_history;
mod object;
mod tool_call;

pub(super) use admission::{Admission, CountedOnce, post_digest};
pub use drain::Drained;
pub use handle::Assistant;
pub(crate) use load_history::NotLoaded;
pub use object::ObjectFailure;
