use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use crate::certificate::Certificate;
use crate::server::{Server, User, free_port, program};

/// A PostgreSQL server with the user `postgres`, who needs no password.
///
/// The server writes to disk as in production: `fsync` and `synchronous_commit` are on.
#[derive(Debug)]
pub struct Postgres {
    /// `None` while the server is stopped. It stops before the folder is deleted.
    server: Mutex<Option<Server>>,
    port: u16,
    databases: AtomicU32,
    settings: Vec<String>,
    folder: TempDir,
}

impl Postgres {
    /// Returns the server that the tests of this process share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&[]))
    }

    /// Starts a server of its own with settings such as `max_connections=20`.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        Self::start_in(settings, None)
    }

    /// Starts a server of its own that accepts TLS.
    #[must_use]
    pub fn start_with_tls(certificate: &Certificate) -> Self {
        let settings = ["ssl=on", "ssl_cert_file=../server.crt", "ssl_key_file=../server.key"];
        Self::start_in(&settings, Some(certificate))
    }

    fn start_in(settings: &[&str], certificate: Option<&Certificate>) -> Self {
        let folder = tempfile::Builder::new().prefix("omniassist-postgres-").tempdir().unwrap();
        let user = User::of_databases();
        if let Some(user) = user {
            chown(folder.path(), Some(user.uid), Some(user.gid)).unwrap();
        }
        if let Some(certificate) = certificate {
            certificate.write(folder.path(), user);
        }
        let mut init = Command::new(binary("initdb"));
        init.arg("-D").arg(data(folder.path()));
        init.args(["-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8"]);
        if let Some(user) = user {
            init.uid(user.uid).gid(user.gid);
        }
        let output = init.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        let postgres = Self {
            server: Mutex::new(None),
            port: free_port(),
            databases: AtomicU32::new(0),
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
            folder,
        };
        postgres.resume();
        postgres
    }

    /// Creates an empty database, and returns its URL.
    pub fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("create database {name}"));
        self.url(&name)
    }

    /// Returns the URL of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the id of the server's process, the parent of those of its connections.
    pub fn pid(&self) -> String {
        self.server.lock().unwrap().as_ref().expect("a server that runs").pid()
    }

    /// Executes statements in a database, and returns what `psql` prints: a row each line, without headers.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        let mut psql = Command::new(binary("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statements])
            .arg(self.url(database));
        let output = psql.output().unwrap();
        assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Sends a signal to the server: `QUIT` ends it like a crash, `INT` disconnects all clients and ends it.
    pub fn signal(&self, signal: &str) {
        self.server.lock().unwrap().as_ref().expect("a server that runs").signal(signal);
    }

    /// Ends the server without a checkpoint, as a crash does. [`resume`](Self::resume) starts it again.
    pub fn crash(&self) {
        self.signal("QUIT");
        drop(self.server.lock().unwrap().take());
    }

    /// Starts the server again on the same files and the same port.
    pub fn resume(&self) {
        let mut command = Command::new(binary("postgres"));
        command.arg("-D").arg(data(self.folder.path())).arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses=127.0.0.1", "-p", &self.port.to_string()]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        // `QUIT` ends the server without waiting for its clients.
        let server = Server::start(&command, "QUIT", self.folder.path(), self.port, User::of_databases());
        *self.server.lock().unwrap() = Some(server);
        let mut ready = Command::new(binary("pg_isready"));
        ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        while !ready.status().unwrap().success() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Finds a program of PostgreSQL. Debian keeps those of the server out of the path.
fn binary(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    program(name, &folders, "postgresql")
}
