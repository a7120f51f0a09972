//! The server processes: starts, kills and stops them, and knows what each one drives.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::proxy;
use crate::server::KEYS;
use crate::store::REDIS;

/// The time for a server to list its runs.
const ANSWER: Duration = Duration::from_millis(500);

/// The servers. Clones are the same servers.
#[derive(Debug, Clone)]
pub(crate) struct Servers {
    store: Arc<str>,
    redis: Option<Arc<str>>,
    keys: Arc<str>,
    all: Arc<[Server]>,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    process: Mutex<Option<Child>>,
}

impl Servers {
    /// Starts servers on this store and this Redis, each on a free port that it keeps.
    pub(crate) async fn start(store: &str, redis: Option<&str>, number: usize) -> io::Result<Self> {
        let ports = (0..number).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        // All listeners are open before the first is closed, so the ports differ.
        let ports = ports.collect::<io::Result<Vec<_>>>()?;
        let addresses = ports.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
        drop(ports);
        let server = |address| Server { address, process: Mutex::new(None) };
        let servers = Self {
            store: store.into(),
            redis: redis.map(Into::into),
            keys: keys()?.into(),
            all: addresses.into_iter().map(server).collect(),
        };
        for number in 1..=number {
            servers.act(number, "start").await?;
        }
        Ok(servers)
    }

    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.all.iter().map(|server| server.address)
    }

    /// Does `kill`, `stop` or `start` to a server, counted from 1. An action without an effect is none.
    pub(crate) async fn act(&self, number: usize, action: &str) -> io::Result<()> {
        let server = number.checked_sub(1).and_then(|at| self.all.get(at)).ok_or(io::ErrorKind::NotFound)?;
        let mut process = server.process.lock().await;
        let running = process.as_mut().and_then(|child| child.try_wait().ok()?.is_none().then_some(child));
        match (action, running) {
            ("kill", Some(child)) => child.start_kill(),
            ("stop", Some(child)) => {
                let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
                id.map_or(Ok(()), |id| kill_process(id, Signal::TERM).map_err(io::Error::from))
            }
            ("start", None) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["server", &self.store, &server.address.port().to_string()]);
                command.env(KEYS, &*self.keys);
                command.envs(self.redis.as_deref().map(|url| (REDIS, url)));
                // The server ends when the other end of its standard input is closed.
                *process = Some(command.stdin(Stdio::piped()).kill_on_drop(true).spawn()?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the state of each server, and the chats whose runs it drives.
    pub(crate) async fn states(&self) -> Value {
        let mut states = Vec::new();
        for (at, server) in self.all.iter().enumerate() {
            let has_ended = match &mut *server.process.lock().await {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => true,
            };
            let chats = timeout(ANSWER, server.chats()).await.ok().and_then(Result::ok);
            let state = match (has_ended, &chats) {
                (true, _) => "down",
                (false, Some(_)) => "up",
                (false, None) => "starts or stops",
            };
            states.push(
                json!({ "number": at + 1, "state": state, "chats": chats.unwrap_or_else(|| json!([])) }),
            );
        }
        states.into()
    }
}

/// Returns a new key for seals. A real cluster keeps one in its secrets.
fn keys() -> io::Result<String> {
    let mut secret = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(secret.iter().fold("cluster:".to_owned(), |keys, byte| format!("{keys}{byte:02x}")))
}

impl Server {
    async fn chats(&self) -> io::Result<Value> {
        let request = Request::get("/chats").header("host", self.address.to_string()).body(Body::empty());
        let mut server = proxy::connect(self.address).await?;
        let response =
            server.send_request(request.map_err(io::Error::other)?).await.map_err(io::Error::other)?;
        let body = to_bytes(Body::new(response.into_body()), 1 << 20).await.map_err(io::Error::other)?;
        Ok(serde_json::from_slice(&body)?)
    }
}
