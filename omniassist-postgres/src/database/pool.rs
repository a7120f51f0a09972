use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_postgres::Row;

use super::connector::Connector;
use super::lease::{Idle, Lease};
use super::transaction::Transaction;
use crate::failure::Failure;
use crate::values::Value;

/// A number of connections, opened when they are needed. One that was cut is opened again.
pub(crate) struct Pool {
    idle: Arc<Idle>,
    permits: Arc<Semaphore>,
}

impl Pool {
    pub(crate) fn new(connector: &Arc<Connector>, connections: usize) -> Self {
        let permits = Arc::new(Semaphore::new(connections.max(1)));
        Self { idle: Arc::new(Idle::new(Arc::clone(connector))), permits }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.idle.connector
    }

    /// Returns the rows of one statement.
    pub(crate) async fn read(&self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, Failure> {
        let mut lease = self.lease().await?;
        let rows = lease.connection()?.query(&self.connector().sql(sql), values).await;
        lease.is_clean = true;
        rows
    }

    /// Returns a connection for a transaction, which has not begun.
    pub(crate) async fn transaction(&self) -> Result<Transaction, Failure> {
        Ok(Transaction::new(self.lease().await?))
    }

    async fn lease(&self) -> Result<Lease, Failure> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_closed| Failure::Invalid("the store was closed".to_owned()))?;
        self.idle.lease(permit).await
    }
}
