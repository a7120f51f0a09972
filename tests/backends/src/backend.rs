use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The process under test. Dropping it kills the process.
pub(crate) struct Backend {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Backend {
    /// Starts the backend with these users, in the form `ann=token,bo=another`.
    pub(crate) async fn start(binary: &str, provider: &str, users: &str, deadline: Duration) -> Self {
        Self::start_with(binary, provider, users, deadline, None).await
    }

    /// Starts the backend with a file for its audit log.
    pub(crate) async fn start_with(
        binary: &str,
        provider: &str,
        users: &str,
        deadline: Duration,
        audit: Option<&Path>,
    ) -> Self {
        let mut child = Command::new("sh")
            .envs(audit.map(|path| ("AUDIT_FILE", path)))
            // The backend also needs two sockets for each stream. Its soft limit can be raised here.
            .args(["-c", "ulimit -n 4096 2>/dev/null; exec \"$0\"", binary])
            .env("LISTEN", "127.0.0.1:0")
            .env("TOKENS", users)
            .env("SHUTDOWN_SECONDS", deadline.as_secs().to_string())
            .env("OPENAI_BASE_URL", provider)
            .env("OPENAI_API_KEY", "k")
            .env("no_proxy", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("the first line must contain the address: {line:?}"));
        Self { address: address.parse().unwrap(), child }
    }

    /// Sends SIGTERM.
    pub(crate) async fn terminate(&self) {
        let id = self.child.id().expect("the backend runs").to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        self.child.wait().await.unwrap()
    }
}
