use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use tempfile::TempDir;

use crate::postgres::Postgres;
use crate::server::{Server, User, free_port, program};

/// A PgBouncer in transaction mode in front of a PostgreSQL server: each transaction may have another connection.
#[derive(Debug)]
pub struct PgBouncer {
    /// `None` while the server is stopped. It stops before the folder is deleted.
    server: Mutex<Option<Server>>,
    port: u16,
    folder: TempDir,
}

impl PgBouncer {
    /// Starts a PgBouncer with this many connections for each database.
    #[must_use]
    pub fn start(postgres: &Postgres, connections: u32) -> Self {
        let folder = tempfile::Builder::new().prefix("omniassist-pgbouncer-").tempdir().unwrap();
        let (port, path) = (free_port(), folder.path().display());
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = {connections}\n\
             logfile = {path}/pgbouncer.log\n",
            postgres.port()
        );
        std::fs::write(folder.path().join("pgbouncer.ini"), settings).unwrap();
        if let Some(user) = User::of_databases() {
            chown(folder.path(), Some(user.uid), Some(user.gid)).unwrap();
        }
        let pgbouncer = Self { server: Mutex::new(None), port, folder };
        pgbouncer.resume();
        pgbouncer
    }

    /// Returns the URL of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Ends the server, which cuts all connections.
    pub fn crash(&self) {
        drop(self.server.lock().unwrap().take());
    }

    /// Starts the server again on the same port.
    pub fn resume(&self) {
        let mut command = Command::new(program("pgbouncer", &[PathBuf::from("/usr/sbin")], "pgbouncer"));
        command.arg("-q").arg(self.folder.path().join("pgbouncer.ini"));
        let server = Server::start(&command, "KILL", self.folder.path(), self.port, User::of_databases());
        *self.server.lock().unwrap() = Some(server);
    }
}
