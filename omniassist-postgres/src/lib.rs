//! Stores OmniAssist's conversations and runs in PostgreSQL, which many servers share.
//!
//! [`PostgresStore`] implements [`RunStore`] and [`ConversationStore`]. Every server with a store on the database serves
//! every run: viewers, stops and answers arrive wherever the load balancer sends them, and the runs of a server that died go
//! on at another one.
//!
//! ```no_run
//! use omniassist_postgres::PostgresStore;
//! use omniassist_server::Assistant;
//! # use omniassist_server::testing::ScriptedProvider;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! # let provider = ScriptedProvider::new();
//! let store = PostgresStore::connect("postgres://app:secret@db.internal/app?sslmode=require").await?;
//! let assistant = Assistant::builder(provider).store(store).build()?;
//! # let _ = assistant;
//! # Ok(())
//! # }
//! ```
//!
//! PostgreSQL 13 and later are supported.
//!
//! # Connections
//!
//! A store opens connections when it needs them: at most four that write and two that read. They come back by themselves after
//! a restart of the database. A pool of the application is not used: the journals of all runs share one connection and one
//! statement, so a store needs few, and they must not wait for requests of the application.
//!
//! One more connection receives hints of other servers by LISTEN, once runs are stored. Every change is also seen without
//! hints, some time later. A pooler between transactions passes none: give the URL of the database itself as
//! [`listener_url`](PostgresOptions::listener_url).
//!
//! Statements are not prepared on the server, so that a pooler between transactions, such as PgBouncer, works without a
//! setting. No setting outlasts its transaction.
//!
//! # Writing
//!
//! The segments of all runs of a server that are due are one statement. A
//! [soft](omniassist_server::store::Durability::Soft) write survives the death of the server that made it; a crash of the
//! database loses those of the last moments. A [hard](omniassist_server::store::Durability::Hard) one survives both, and
//! secures the soft ones before it.
//!
//! The fence is the primary key of the table of segments: of two servers that write one position, the database refuses one,
//! whatever their clocks say. Leases end by the clock of the database.
//!
//! # Shared limits
//!
//! [`PostgresStore::token_budget`], [`PostgresStore::rate_limit`] and [`PostgresStore::replay_guard`] count for all servers of
//! the database, by its clock.
//!
//! [`scale`] has figures for planning.
//!
//! # Failures
//!
//! | failure | error |
//! |---|---|
//! | the database is down, restarts, or has no connection left | `is_unavailable` |
//! | no answer within 3 s ([`timeout`](PostgresOptions::timeout)): a lock, or more writes than the database takes | `is_unavailable` |
//! | the disk is full | `is_full` |
//! | the database is a standby, or the user may not write | `is_read_only` |
//! | the tables are missing, or need a newer version of this crate | `is_incompatible` |
//! | a page of the database is damaged | `is_corrupt` |
//!
//! A write whose answer was lost may have been committed. Each method can be repeated with the same values, and then tells
//! its own earlier write from that of another server.
//!
//! # Versions
//!
//! `connect` raises the tables to the version of this crate, under a lock, so that many servers can start at once. The steps of
//! a release leave the tables such that the release before can use them. During a rolling deployment, servers of release N-1
//! go on and can be started again, and a deployment can be rolled back. A server that is too old for the tables is refused as
//! [incompatible](omniassist_server::store::StoreError::is_incompatible). [`PostgresStore::migrations`] returns the SQL for
//! applications that migrate with a tool of their own.
//!
//! [`RunStore`]: omniassist_server::store::RunStore
//! [`ConversationStore`]: omniassist_server::store::ConversationStore

#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod change;
mod conversations;
mod database;
mod failure;
mod hints;
mod keys;
mod options;
mod rate_limit;
mod replay_guard;
mod rows;
mod runs;
pub mod scale;
mod schema;
mod sql;
mod store;
mod sweep;
mod text;
mod time;
mod usage;
mod values;

pub use budget::PostgresTokenBudget;
pub use options::PostgresOptions;
pub use rate_limit::PostgresRateLimit;
pub use replay_guard::PostgresReplayGuard;
pub use store::PostgresStore;
