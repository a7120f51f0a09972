//! Starts real database servers for the tests of this workspace.
//!
//! Each server listens on a free port of loopback and keeps its files in a temporary folder. It stops when its value is
//! dropped, or when the process ends, `kill -9` included.
//!
//! A test needs the programs of the server. Where they are missing, it panics with the command that installs them.

#![allow(clippy::missing_panics_doc, clippy::panic, clippy::unwrap_used, clippy::expect_used)]

mod certificate;
mod pgbouncer;
mod postgres;
mod redis;
mod server;

pub use certificate::Certificate;
pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;
pub use redis::Redis;
