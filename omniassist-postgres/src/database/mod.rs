//! Connections to the database.

mod connection;
mod connector;
mod lease;
mod pool;
#[cfg(feature = "__tls")]
mod tls;
mod transaction;

pub(crate) use connection::{Connection, Notifications};
pub(crate) use connector::Connector;
pub(crate) use pool::Pool;
pub(crate) use transaction::Transaction;
