use omniassist_server::store::Durability;
use tokio_postgres::Row;

use super::connector::Connector;
use super::lease::Lease;
use crate::failure::Failure;
use crate::values::Value;

/// A transaction on a connection of its own.
///
/// Futures that are polled together, in the order of the statements, need one round trip. When a statement fails, those
/// after it fail too, `commit` included. A drop before the end cuts the connection, which undoes the transaction.
pub(crate) struct Transaction(Lease);

impl Transaction {
    pub(super) fn new(lease: Lease) -> Self {
        Self(lease)
    }

    /// Begins the transaction. A soft one is lost if the database crashes within the next moments.
    ///
    /// Its statements, and its pauses, end after some seconds: the server of a client that hangs frees its locks.
    pub(crate) async fn begin(&self, how: Durability) -> Result<(), Failure> {
        // The durability is part of the transaction. A setting of the session would change it for the next user of a
        // pooled connection, and one around a statement of its own ends before that statement is committed.
        let connector = self.connector();
        let begin = if how == Durability::Soft { connector.begin_soft() } else { connector.begin_hard() };
        self.0.connection()?.execute(begin).await
    }

    /// Returns the rows of a statement.
    pub(crate) async fn query(&self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, Failure> {
        self.0.connection()?.query(&self.connector().sql(sql), values).await
    }

    /// Returns the row of a statement that has one.
    pub(crate) async fn query_one(&self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Row, Failure> {
        let rows = self.query(sql, values).await?;
        rows.into_iter().next().ok_or(Failure::Corrupt("a row is missing"))
    }

    /// Executes statements without parameters.
    pub(crate) async fn execute(&self, sql: String) -> Result<(), Failure> {
        self.0.connection()?.execute(&sql).await
    }

    pub(crate) fn connector(&self) -> &Connector {
        self.0.connector()
    }

    /// Commits. The connection is free after [`end`](Self::end).
    pub(crate) async fn commit(&self) -> Result<(), Failure> {
        self.0.connection()?.execute("commit").await
    }

    /// Undoes the transaction, and gives the connection back.
    pub(crate) async fn undo(self) -> Result<(), Failure> {
        self.0.connection()?.execute("rollback").await?;
        self.end();
        Ok(())
    }

    /// Gives the connection back after a commit.
    pub(crate) fn end(mut self) {
        self.0.is_clean = true;
    }
}
