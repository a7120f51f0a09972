//! Stored runs: a run with a task of its own, a journal, and any number of viewers.
//!
//! Data flows one way. A [`task`] drives the run, writes its events to the journal and shows them in its tail. A
//! [`view`] reads the tail, and the journal where it is too slow for the tail. The [`open`] module begins a run for a post,
//! and [`leg`] continues one that waited or was interrupted.

mod agents;
mod answer_call;
mod answer_signal;
mod branches;
mod busy;
mod connect;
mod conversations;
mod elsewhere;
mod enqueue;
mod export;
mod given;
mod go_on;
mod hints;
mod input;
mod last_leg;
mod lease;
mod leg;
mod leg_events;
mod message;
mod notices;
mod obligations;
mod open;
mod post;
mod question_order;
mod recorder;
mod release;
mod resume;
mod runtime;
mod stop;
mod stored_post;
mod sweep;
mod task;
mod tree_run;
mod usage;
mod usage_sum;
mod verifier;
mod view;

pub(crate) use answer_call::Answered;
pub(crate) use connect::Connection;
pub(crate) use conversations::store_failed;
pub use conversations::{Conversations, LoadedConversation, LoadedMessage};
pub use export::Export;
pub(super) use given::GivenStores;
pub(crate) use leg_events::LegEvents;
pub(crate) use open::Opened;
pub(super) use tree_run::{TreeEnd, TreeRun};
pub use usage::StoredUsage;
pub(crate) use view::View;
