//! A server process and its guard.

use std::env;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time for a server to accept connections, on a machine that compiles meanwhile.
const START: Duration = Duration::from_secs(60);

/// The lines of a server's log that a failed test shows.
const LAST_LINES: usize = 40;

/// Runs a server until the shell's standard input is closed, which happens when this process ends in any way. The first
/// argument is the signal that stops the server. Without a line on standard input, the shell deletes the files too.
const GUARD: &str = r#"
signal=$1; shift
"$@" & echo $! >pid
read -r keep
kill -s "$signal" $!
wait
[ -n "$keep" ] || rm -rf "$PWD"
"#;

/// A server process.
#[derive(Debug)]
pub(crate) struct Server {
    guard: Child,
    folder: PathBuf,
}

impl Server {
    /// Starts a server that stops with this signal, and waits until the port accepts connections.
    pub(crate) fn start(
        command: &Command,
        signal: &str,
        folder: &Path,
        port: u16,
        user: Option<User>,
    ) -> Self {
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard", signal]).arg(command.get_program()).args(command.get_args());
        guard.current_dir(folder);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log(folder));
        if let Some(user) = user {
            guard.uid(user.uid).gid(user.gid);
        }
        // A signal from the terminal must not end the server before its tests.
        guard.process_group(0);
        let guard = guard.spawn().unwrap();
        let server = Self { guard, folder: folder.to_owned() };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                since.elapsed() < START,
                "{command:?} did not start; see the log in {}",
                folder.display()
            );
            sleep(Duration::from_millis(10));
        }
        server
    }

    /// Returns the id of the server's process.
    pub(crate) fn pid(&self) -> String {
        std::fs::read_to_string(self.folder.join("pid")).unwrap().trim().to_owned()
    }

    /// Sends a signal to the server's process.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.pid()]).status().unwrap();
        assert!(sent.success(), "the server is not there for {signal}");
    }
}

impl Drop for Server {
    #[expect(clippy::print_stderr, reason = "a failed test shows the server's log")]
    fn drop(&mut self) {
        if let Some(mut stdin) = self.guard.stdin.take() {
            let _ = stdin.write_all(b"keep\n");
        }
        let _ = self.guard.wait();
        // The folder is deleted next, and with it the only account of what went wrong.
        if std::thread::panicking() {
            for name in ["log", "pgbouncer.log"] {
                let log = std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
                let start = log.lines().count().saturating_sub(LAST_LINES);
                log.lines().skip(start).for_each(|line| eprintln!("{name}: {line}"));
            }
        }
    }
}

fn log(folder: &Path) -> Stdio {
    let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
    log.into()
}

/// The ids of a user of the system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl User {
    /// Returns the user of servers that refuse to run as root, if this process does.
    pub(crate) fn of_databases() -> Option<Self> {
        (Self::named(None).uid == 0).then(|| Self::named(Some("postgres")))
    }

    /// Returns a user by name, or the current one.
    fn named(name: Option<&str>) -> Self {
        let id = |option: &str| {
            let output = Command::new("id").arg(option).args(name).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
        };
        Self { uid: id("-u"), gid: id("-g") }
    }
}

/// Returns a port of loopback that nobody uses now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Finds a program on the path, or in one of the folders.
pub(crate) fn program(name: &str, folders: &[PathBuf], package: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut all = env::split_paths(&path).chain(folders.iter().cloned()).map(|folder| folder.join(name));
    all.find(|candidate| candidate.is_file()).unwrap_or_else(|| {
        panic!("{name} is missing. On Debian, as root: apt-get install -y --no-install-recommends {package}")
    })
}
