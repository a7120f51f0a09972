//! The servers of a cluster, and the relays before and behind them.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_test_databases::Redis;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use super::database::Database;
use super::shim::Shim;
use crate::shape::Tempo;

pub(crate) const SERVERS: usize = 3;

/// Three servers on one database.
pub(crate) struct Fleet {
    pub(crate) servers: Vec<Server>,
    pub(crate) database: Database,
    pub(crate) ledger: String,
    /// The program of the servers that are started next.
    program: Mutex<PathBuf>,
    tempo: Tempo,
    turn: AtomicUsize,
    logs: TempDir,
}

/// A server, and the relays of its connections.
pub(crate) struct Server {
    number: usize,
    /// The relay before it, to which clients connect.
    pub(crate) clients: Shim,
    /// The relay between it and the database, if that has a port.
    pub(crate) database: Option<Shim>,
    /// The relay between it and Redis, if there is one.
    pub(crate) redis: Option<Shim>,
    process: Mutex<Option<Child>>,
}

impl Fleet {
    /// Starts servers of this program.
    pub(crate) async fn start(database: Database, ledger: &str, tempo: Tempo) -> Self {
        Self::start_program(std::env::current_exe().unwrap(), database, ledger, tempo).await
    }

    /// Starts servers of a program.
    pub(crate) async fn start_program(
        program: PathBuf,
        database: Database,
        ledger: &str,
        tempo: Tempo,
    ) -> Self {
        let mut servers = Vec::new();
        for number in 0..SERVERS {
            let clients = Shim::start(0).await;
            let to_database = Shim::start_some(database.port()).await;
            let to_redis = Shim::start_some(database.redis().map(Redis::port)).await;
            let process = Mutex::new(None);
            servers.push(Server { number, clients, database: to_database, redis: to_redis, process });
        }
        let (turn, logs) = (AtomicUsize::new(0), tempfile::tempdir().unwrap());
        let (ledger, program) = (ledger.to_owned(), Mutex::new(program));
        let fleet = Self { servers, database, ledger, program, tempo, turn, logs };
        for server in &fleet.servers {
            fleet.launch(server, None).await;
        }
        fleet
    }

    /// Sets the program of the servers that are started next.
    pub(crate) async fn set_program(&self, program: PathBuf) {
        *self.program.lock().await = program;
    }

    /// Starts the process of a server, whose clock may differ (`+1h`). Returns the process that was there before.
    pub(crate) async fn launch(&self, server: &Server, clock: Option<&str>) -> Option<Child> {
        let mut command = Command::new(self.program.lock().await.as_path());
        let port = |relay: &Shim| relay.address().port();
        command.arg("server").arg(self.database.url(server.database.as_ref().map(port))).arg(&self.ledger);
        command.args([self.tempo.word, self.tempo.tool].map(|time| time.as_millis().to_string()));
        command.args(server.redis.as_ref().map(|relay| format!("redis://127.0.0.1:{}", port(relay))));
        if let Some(clock) = clock {
            command.env("LD_PRELOAD", fake_clock()).env("FAKETIME", clock);
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let log = File::options().create(true).append(true).open(self.log(server)).unwrap();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .env("RUST_BACKTRACE", "0")
            .kill_on_drop(true);
        let (child, port) = loop {
            let mut child = command.spawn().unwrap();
            let mut port = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut port).await.unwrap();
            // A server whose database does not answer ends, and is started again.
            match port.trim().parse() {
                Ok(port) => break (child, port),
                Err(_) => drop(child.wait().await),
            }
        };
        server.clients.lead_to(port);
        server.process.lock().await.replace(child)
    }

    /// Returns the address of the next server in turn.
    pub(crate) fn next(&self) -> SocketAddr {
        self.at(self.turn.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn at(&self, number: usize) -> SocketAddr {
        self.servers[number % self.servers.len()].clients.address()
    }

    fn log(&self, server: &Server) -> PathBuf {
        self.logs.path().join(format!("{}.log", server.number))
    }

    /// Returns the warnings and errors of the servers.
    pub(crate) fn logs(&self) -> String {
        let read = |server| std::fs::read_to_string(self.log(server)).unwrap_or_default();
        self.servers.iter().map(read).collect()
    }

    /// Ends the servers by SIGTERM.
    pub(crate) async fn stop(&self) {
        for server in &self.servers {
            if let Some(child) = server.process.lock().await.take() {
                end(child).await;
            }
        }
    }
}

impl Server {
    pub(crate) async fn signal(&self, signal: Signal) {
        if let Some(child) = &*self.process.lock().await {
            send(child, signal);
        }
    }

    /// Ends the process by SIGKILL.
    pub(crate) async fn kill(&self) {
        if let Some(mut child) = self.process.lock().await.take() {
            child.kill().await.unwrap();
        }
    }
}

/// Ends a process by SIGTERM.
pub(crate) async fn end(mut child: Child) {
    // `wait` closes the input, at which a server ends at once.
    let input = child.stdin.take();
    send(&child, Signal::TERM);
    child.wait().await.unwrap();
    drop(input);
}

fn send(child: &Child, signal: Signal) {
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).unwrap()));
    if let Some(id) = id {
        kill_process(id, signal).unwrap();
    }
}

/// Finds the library of libfaketime.
fn fake_clock() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap().flatten().map(|folder| folder.path());
    let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.is_file()).unwrap_or_else(|| {
        panic!("libfaketime is missing. On Debian, as root: apt-get install -y --no-install-recommends libfaketime")
    })
}
