//! Stores OmniAssist's conversations and runs in a SQLite file.
//!
//! [`SqliteStore`] implements [`RunStore`] and [`ConversationStore`] for one server. Several processes on one machine can
//! open a file, for example while a new version replaces an old one.
//!
//! ```
//! use omniassist_server::Principal;
//! use omniassist_server::store::{Change, ConversationStore, Saved, Scope, StoredMessage};
//! use omniassist_sqlite::SqliteStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("assistant.db");
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = SqliteStore::open(path)?;
//!
//! let scope = Scope::of(&Principal::new("user-7")).ok_or("a principal without an id")?;
//! let question = StoredMessage::new("m1", None, r#"{"role":"user","content":"Where is order 17?"}"#);
//! let saved = store.save(&scope, "chat-1", &Change::messages([question])).await?;
//! assert_eq!(saved, Saved::Version(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Writing
//!
//! One thread writes. Writes that arrive while it commits share the next commit, so many runs cost few commits. Reads have
//! connections of their own and do not wait for the writer.
//!
//! The file is in WAL mode. A [soft](omniassist_server::store::Durability::Soft) write survives the death of the process,
//! a [hard](omniassist_server::store::Durability::Hard) one a power failure too. A hard write secures the soft ones before
//! it.
//!
//! # Failures
//!
//! A method that fails has written nothing, and its [error](omniassist_server::store::StoreError) tells the cause. Writes of
//! the same commit are not affected: they are committed again without the one that failed.
//!
//! | failure | error |
//! |---|---|
//! | another process writes for more than 5 s ([`busy_timeout`](SqliteOptions::busy_timeout)) | `is_unavailable` |
//! | the disk, or the file's limit ([`max_bytes`](SqliteOptions::max_bytes)), is full | `is_full` |
//! | the file, its folder or its disk is read-only | `is_read_only`, by `open` |
//! | the file is damaged, or is no database | `is_corrupt` |
//! | the file is on a network file system | `is_incompatible`, by `open` on Linux |
//!
//! After `kill -9`, the next `open` finds everything that was acknowledged, and runs of the killed process can be claimed at
//! once.
//!
//! # Files
//!
//! Beside the file `assistant.db` are `assistant.db-wal`, `assistant.db-shm` and `assistant.db-lock`. The last one tells a
//! new process if others are alive.
//!
//! Deleted content is overwritten with zeros in the file, and a deletion empties the log before it returns. While another
//! connection reads, for example that of a backup, the log keeps the content, and is emptied when the connection is done.
//!
//! Copy the file while it is open with `VACUUM INTO`, or with SQLite's backup tool. On NFS, SMB, Ceph
//! and similar file systems, SQLite's locks do not reach other machines, so they are refused.
//!
//! # Versions
//!
//! The tables have a version, which `open` raises to that of this crate. The steps of a release leave the tables such that
//! the release before can use them:
//!
//! - Files of every earlier version can be opened.
//! - During a rolling deployment, a process of release N-1 that has the file open goes on while release N migrates it.
//! - Release N-1 opens a file of release N, so that you can go back by one release. It loses nothing, but does not use what
//!   release N added.
//! - A release that is too old for a file does not open it. The error is
//!   [incompatible](omniassist_server::store::StoreError::is_incompatible). To go back further, open a copy from before.
//!
//! # Versions of SQLite
//!
//! A build contains one `libsqlite3-sys`. This crate accepts each `rusqlite` from 0.32 to 0.41, so that it can be added to
//! an application with `sqlx`, `diesel` or `sea-orm`.
//!
//! [`RunStore`]: omniassist_server::store::RunStore
//! [`ConversationStore`]: omniassist_server::store::ConversationStore

#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod conversations;
mod failure;
mod file_system;
mod keys;
mod liveness;
mod log;
mod open;
mod options;
mod readers;
mod rows;
mod runs;
mod schema;
mod store;
mod sweep;
mod time;
mod usage;
mod writer;

pub use budget::SqliteTokenBudget;
pub use options::SqliteOptions;
pub use store::SqliteStore;
