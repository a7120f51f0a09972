//! The host's store of conversations, for clients that post the last message only.

mod hook;
mod load;

pub use hook::HistoryLoader;
pub(super) use hook::LoaderHook;
pub(crate) use load::NotLoaded;
