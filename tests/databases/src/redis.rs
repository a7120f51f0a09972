use std::process::Command;
use std::sync::{Mutex, OnceLock};

use tempfile::TempDir;

use crate::certificate::Certificate;
use crate::server::{Server, free_port, program};

/// A Redis server without a password, which keeps nothing on disk.
#[derive(Debug)]
pub struct Redis {
    /// `None` while the server is stopped. It stops before the folder is deleted.
    server: Mutex<Option<Server>>,
    port: u16,
    has_tls: bool,
    folder: TempDir,
}

impl Redis {
    /// Returns the server that the tests of this process share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Redis> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Starts a server of its own.
    #[must_use]
    pub fn start() -> Self {
        Self::start_in(None)
    }

    /// Starts a server of its own that accepts only TLS.
    #[must_use]
    pub fn start_with_tls(certificate: &Certificate) -> Self {
        Self::start_in(Some(certificate))
    }

    fn start_in(certificate: Option<&Certificate>) -> Self {
        let folder = tempfile::Builder::new().prefix("omniassist-redis-").tempdir().unwrap();
        if let Some(certificate) = certificate {
            certificate.write(folder.path(), None);
        }
        let redis =
            Self { server: Mutex::new(None), port: free_port(), has_tls: certificate.is_some(), folder };
        redis.resume();
        redis
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", if self.has_tls { "rediss" } else { "redis" }, self.port)
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Executes a command, and returns what `redis-cli` prints.
    pub fn execute(&self, command: &[&str]) -> String {
        let mut cli = Command::new(program("redis-cli", &[], "redis-server"));
        let output = cli.args(["-p", &self.port.to_string()]).args(command).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Sends a signal to the server: `STOP` and `CONT` freeze and continue it.
    pub fn signal(&self, signal: &str) {
        self.server.lock().unwrap().as_ref().expect("a server that runs").signal(signal);
    }

    /// Ends the server. Its content is lost.
    pub fn crash(&self) {
        self.signal("KILL");
        drop(self.server.lock().unwrap().take());
    }

    /// Starts an empty server on the same port.
    pub fn resume(&self) {
        let mut command = Command::new(program("redis-server", &[], "redis-server"));
        let port = if self.has_tls { "--tls-port" } else { "--port" };
        command.args(["--bind", "127.0.0.1", port, &self.port.to_string()]);
        command.args(["--save", "", "--appendonly", "no"]);
        if self.has_tls {
            command.args(["--port", "0", "--tls-auth-clients", "no"]);
            command.args(["--tls-cert-file", "server.crt", "--tls-key-file", "server.key"]);
            command.args(["--tls-ca-cert-file", "server.crt"]);
        }
        let server = Server::start(&command, "KILL", self.folder.path(), self.port, None);
        *self.server.lock().unwrap() = Some(server);
    }
}
