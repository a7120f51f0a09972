//! Stored runs: a run with a task of its own, a journal, and any number of viewers.
//!
//! Data flows one way. The task of [`execution`] drives the run, writes its events to the journal and shows them in its tail.
//! [`viewers`] read the tail, and the journal where it is too slow for the tail. [`posts`] begin runs, and [`lifecycle`]
//! continues those that waited or were interrupted.

mod chat;
mod execution;
mod given;
mod instance;
mod lifecycle;
mod posts;
mod tree_run;
mod usage;
mod viewers;

pub(crate) use chat::store_failed;
pub use chat::{Conversations, Export, LoadedConversation, LoadedMessage};
pub(super) use given::GivenStores;
pub(crate) use posts::{Answered, Opened};
pub(super) use tree_run::{TreeEnd, TreeRun};
pub use usage::StoredUsage;
pub(crate) use viewers::{Connection, LegEvents, View};
