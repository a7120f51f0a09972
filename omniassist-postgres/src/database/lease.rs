use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedSemaphorePermit;

use super::connection::Connection;
use super::connector::Connector;
use crate::failure::Failure;

/// The connections of a pool that nobody uses.
pub(super) struct Idle {
    pub(super) connector: Arc<Connector>,
    connections: Mutex<Vec<Connection>>,
}

impl Idle {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connector, connections: Mutex::default() }
    }

    /// Leases a connection, a new one if there is none.
    pub(super) async fn lease(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Result<Lease, Failure> {
        let idle = {
            let mut connections = self.connections();
            connections.retain(|connection| !connection.is_closed());
            connections.pop()
        };
        let connection = match idle {
            Some(connection) => connection,
            None => self.connector.open().await?.0,
        };
        Ok(Lease { connection: Some(connection), is_clean: false, idle: Arc::clone(self), _permit: permit })
    }

    fn connections(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The use of a connection. A drop gives it back, or cuts it if something is under way.
pub(super) struct Lease {
    /// `None` after the drop.
    connection: Option<Connection>,
    /// Nothing is under way.
    pub(super) is_clean: bool,
    idle: Arc<Idle>,
    _permit: OwnedSemaphorePermit,
}

impl Lease {
    pub(super) fn connection(&self) -> Result<&Connection, Failure> {
        self.connection.as_ref().ok_or(Failure::Corrupt("a connection was given back"))
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.idle.connector
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.connection.take() {
            Some(connection) if self.is_clean => self.idle.connections().push(connection),
            Some(connection) => connection.cut(),
            None => {}
        }
    }
}
