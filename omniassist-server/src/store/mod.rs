//! Stores of runs and conversations.
//!
//! A run is a journal: an append-only list of [`Segment`]s, whose content the store does not read. Messages are a tree
//! per conversation. Two traits separate them, since an application often has tables of its own for messages, and none
//! for journals:
//!
//! - [`RunStore`] keeps runs, their journals, and the signals that reach them from any instance.
//! - [`ConversationStore`] keeps conversations. An application can implement its four methods over its own tables.
//!
//! Instances of a server share a store. Each of them serves every run, whoever drives it. A store that can notify the others
//! returns a [`Wake`], which makes them faster. A [`TailCache`] carries text between them without the store.
//!
//! [`MemoryStore`] implements both in memory, for tests. The crate `omniassist-sqlite` implements both in a file, and
//! `omniassist-postgres` in a database that servers share.
//!
//! The functions of `testing::store` check an implementation of either trait (cargo feature
//! `testing`).
//!
//! # The fence
//!
//! One instance drives a run. Its right to do so is a [`Writer`]: the run, an epoch, and the instance. A claim by another
//! instance raises the epoch and inserts a segment at the next position in one transaction, and from then on no segment of
//! the earlier writer is taken. Clocks decide only if a claim is offered, so a wrong clock cannot make two instances run
//! one tool.
//!
//! ```
//! use std::time::Duration;
//!
//! use omniassist_server::Principal;
//! use omniassist_server::store::{
//!     Appended, Begun, Durability, InstanceId, MemoryStore, NewRun, RunId, RunStore, Scope, Segment, SegmentKind,
//! };
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let store = MemoryStore::new();
//! let me = InstanceId::random();
//! store.beat(me, Duration::from_secs(6), 0).await?;
//!
//! let scope = Scope::of(&Principal::new("user-7")).ok_or("stored conversations need a principal")?;
//! let new = NewRun::new(RunId::random(), scope, "chat-1", me);
//! let Begun::Started(writer) = store.begin(&new).await? else { return Err("the chat is busy".into()) };
//!
//! let segment = Segment::new(writer, 2, SegmentKind::Text, 1, "Hello");
//! let appended = store.append(&[segment], Durability::Soft).await?;
//! assert!(matches!(appended.as_slice(), [Appended::Taken(_)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod begin;
mod conversation;
mod conversation_store;
mod end;
mod error;
mod head;
mod id;
mod key_store;
mod lease;
mod listing;
mod memory;
mod retention;
mod run_store;
mod scope;
mod segment;
mod signal;
mod tail;
mod tail_cache;
mod usage;
mod wake;

pub use begin::{Begun, NewRun, Post};
pub(crate) use conversation::ENTRY;
pub use conversation::{
    Branch, Change, Conversation, ConversationInfo, NotSaved, Saved, StoredMessage, Window,
};
pub use conversation_store::ConversationStore;
pub use end::{Ending, Settled};
pub use error::{StoreError, StoreFuture};
pub use head::{Obligation, OpenRun, RunHead, RunState, Which};
pub use id::{InstanceId, RunId};
pub use key_store::{ConversationKey, KeyOf, KeyStore};
pub use lease::{Beat, Claim, Claimed, RunLease};
pub use listing::{Delete, Deleted, Listing, Page};
pub use memory::MemoryStore;
pub use retention::{Retention, Swept};
pub use run_store::RunStore;
pub use scope::Scope;
pub use segment::{Appended, Durability, Notice, Segment, SegmentKind, Writer};
pub use signal::{Received, Signal, SignalKind, Signalled};
pub use tail::{Tail, TailOf};
pub use tail_cache::{TailCache, TailPiece, TailStream};
pub use usage::{ModelUsage, UsageDay, UsageListing, UsageQuery};
pub use wake::{Hint, Wake, WakeStream, Woken};
