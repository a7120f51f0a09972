//! A TCP relay that loses connections as networks do: it cuts them, or delivers nothing in one direction or in both.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The directions in which nothing is delivered. The bytes wait, as those of a network that repeats them would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// From the side that connects to the target.
    pub(crate) up: bool,
    /// From the target to the side that connects.
    pub(crate) down: bool,
}

/// A relay to a port of this machine. Clones are the same relay.
#[derive(Debug, Clone)]
pub(crate) struct Shim {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: AtomicU16,
    held: watch::Sender<Held>,
    /// Connections of an earlier number are cut.
    cut: watch::Sender<u64>,
    open: AtomicUsize,
}

impl Shim {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let inner = Inner {
            target: AtomicU16::new(target),
            held: watch::Sender::default(),
            cut: watch::Sender::default(),
            open: AtomicUsize::new(0),
        };
        let shim = Self { address: listener.local_addr().unwrap(), inner: Arc::new(inner) };
        let inner = Arc::clone(&shim.inner);
        tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { continue };
                tokio::spawn(relay(client, Arc::clone(&inner)));
            }
        });
        shim
    }

    pub(crate) async fn start_some(target: Option<u16>) -> Option<Self> {
        match target {
            Some(target) => Some(Self::start(target).await),
            None => None,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Relays later connections to another port.
    pub(crate) fn lead_to(&self, target: u16) {
        self.inner.target.store(target, Ordering::Relaxed);
    }

    pub(crate) fn hold(&self, held: Held) {
        self.inner.held.send_replace(held);
    }

    /// Cuts the open connections.
    pub(crate) fn cut(&self) {
        self.inner.cut.send_modify(|number| *number += 1);
    }

    /// Returns the number of open connections.
    pub(crate) fn open(&self) -> usize {
        self.inner.open.load(Ordering::Relaxed)
    }
}

async fn relay(client: TcpStream, inner: Arc<Inner>) {
    let mut cut = inner.cut.subscribe();
    let target = inner.target.load(Ordering::Relaxed);
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else { return };
    drop((client.set_nodelay(true), server.set_nodelay(true)));
    inner.open.fetch_add(1, Ordering::Relaxed);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let held = || inner.held.subscribe();
    tokio::select! {
        _ = async { tokio::join!(
            pump(from_client, to_server, held(), |held| held.up),
            pump(from_server, to_client, held(), |held| held.down),
        ) } => {}
        _ = cut.changed() => {}
    }
    inner.open.fetch_sub(1, Ordering::Relaxed);
}

/// Delivers bytes, and the end of them, while the direction is not held.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut held: watch::Receiver<Held>,
    is_held: fn(&Held) -> bool,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut bytes).await.unwrap_or(0);
        drop(held.wait_for(|held| !is_held(held)).await);
        if read == 0 || to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
