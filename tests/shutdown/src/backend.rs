use std::net::SocketAddr;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The process under test. Killed when dropped.
pub(crate) struct Backend {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Backend {
    /// Starts it with a user for each stream, since one user may have few.
    pub(crate) async fn start(binary: &str, provider: &str, users: usize, deadline: Duration) -> Self {
        let tokens: Vec<String> =
            (0..users).map(|number| format!("user{number}={}", token(number))).collect();
        let mut child = Command::new("sh")
            // It has two sockets for each stream too, and may raise its limit by itself.
            .args(["-c", "ulimit -n 4096 2>/dev/null; exec \"$0\"", binary])
            .env("LISTEN", "127.0.0.1:0")
            .env("TOKENS", tokens.join(","))
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
        let address = address.unwrap_or_else(|| panic!("it says where it listens: {line:?}"));
        Self { address: address.parse().unwrap(), child }
    }

    /// Sends SIGTERM.
    pub(crate) async fn terminate(&self) {
        let id = self.child.id().expect("it runs").to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        self.child.wait().await.unwrap()
    }
}

/// What a user signs in with.
pub(crate) fn token(number: usize) -> String {
    format!("token{number}")
}
