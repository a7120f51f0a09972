//! Faults of servers and of their connections, at random.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::sleep;

use super::fleet::{Fleet, SERVERS, Server};
use super::shim::{Held, Shim};

/// The time for which a process is frozen: longer than its lease.
const FROZEN: Duration = Duration::from_secs(15);

/// The server whose clock differs.
const CLOCK: usize = SERVERS - 1;

/// A fault of one server.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGSTOP and, later, SIGCONT: the process does not know that it has lost its runs.
    Freeze,
    /// The connections are lost.
    Cut(Link),
    /// Nothing is delivered.
    Hold(Link, Held),
}

/// The connections of a server that go through a relay.
#[derive(Debug, Clone, Copy)]
enum Link {
    Clients,
    Database,
    Redis,
}

impl Link {
    fn of(self, server: &Server) -> Option<&Shim> {
        match self {
            Self::Clients => Some(&server.clients),
            Self::Database => server.database.as_ref(),
            Self::Redis => server.redis.as_ref(),
        }
    }
}

/// Disturbs servers, and Redis if there is one, until `stopped`, and heals them. Returns the number of faults of each kind.
pub(crate) async fn disturb(
    fleet: Arc<Fleet>,
    seed: u64,
    stopped: Arc<AtomicBool>,
) -> BTreeMap<String, usize> {
    let mut rng = Rng::with_seed(seed);
    let (mut faults, mut healing) = (BTreeMap::new(), JoinSet::new());
    let mut busy: [Option<Instant>; SERVERS] = [None; SERVERS];
    let redis = tokio::spawn(disturb_redis(Arc::clone(&fleet), rng.fork(), Arc::clone(&stopped)));
    launch_clocked(&fleet, CLOCK, &mut rng).await;
    while !stopped.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(rng.u64(2_000..4_000))).await;
        let now = Instant::now();
        let free: Vec<usize> = (0..SERVERS).filter(|at| busy[*at].is_none_or(|until| until < now)).collect();
        // One server is always left alone.
        if free.len() < 2 {
            continue;
        }
        let at = free[rng.usize(..free.len())];
        let fault = choose(&fleet.servers[at], &mut rng);
        let lasts = match fault {
            Fault::Freeze => FROZEN,
            Fault::Kill => Duration::from_millis(rng.u64(500..9_000)),
            Fault::Cut(_) => Duration::ZERO,
            Fault::Hold(..) => Duration::from_millis(rng.u64(1_000..12_000)),
        };
        busy[at] = Some(now + lasts);
        let kind = match fault {
            Fault::Hold(link, _) => format!("Hold({link:?})"),
            fault => format!("{fault:?}"),
        };
        *faults.entry(kind).or_default() += 1;
        let (fleet, mut rng) = (Arc::clone(&fleet), rng.fork());
        healing.spawn(async move { suffer(&fleet, at, fault, lasts, &mut rng).await });
    }
    healing.join_all().await;
    faults.extend(redis.await.unwrap());
    faults
}

/// Kills and freezes Redis, which all servers share, until `stopped`. A killed one comes back without its content.
async fn disturb_redis(fleet: Arc<Fleet>, mut rng: Rng, stopped: Arc<AtomicBool>) -> BTreeMap<String, usize> {
    let mut faults = BTreeMap::new();
    let Some(redis) = fleet.database.redis() else { return faults };
    while !stopped.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(rng.u64(5_000..20_000))).await;
        let lasts = Duration::from_millis(rng.u64(500..8_000));
        if rng.bool() {
            *faults.entry("Kill of Redis".to_owned()).or_default() += 1;
            redis.crash();
            sleep(lasts).await;
            // It waits for the port.
            block_in_place(|| redis.resume());
        } else {
            *faults.entry("Freeze of Redis".to_owned()).or_default() += 1;
            redis.signal("STOP");
            sleep(lasts).await;
            redis.signal("CONT");
        }
    }
    faults
}

fn choose(server: &Server, rng: &mut Rng) -> Fault {
    let held = match rng.u8(0..3) {
        0 => Held { up: true, down: false },
        1 => Held { up: false, down: true },
        _ => Held { up: true, down: true },
    };
    let kinds = match (&server.database, &server.redis) {
        (None, _) => 8,
        (_, None) => 12,
        _ => 15,
    };
    match rng.u8(0..kinds) {
        0..3 => Fault::Kill,
        3..5 => Fault::Freeze,
        5 => Fault::Cut(Link::Clients),
        6..8 => Fault::Hold(Link::Clients, held),
        8 | 9 => Fault::Cut(Link::Database),
        10 | 11 => Fault::Hold(Link::Database, held),
        12 => Fault::Cut(Link::Redis),
        _ => Fault::Hold(Link::Redis, held),
    }
}

async fn suffer(fleet: &Fleet, at: usize, fault: Fault, lasts: Duration, rng: &mut Rng) {
    let server = &fleet.servers[at];
    match fault {
        Fault::Kill => {
            server.kill().await;
            sleep(lasts).await;
            launch_clocked(fleet, at, rng).await;
        }
        Fault::Freeze => {
            server.signal(Signal::STOP).await;
            sleep(lasts).await;
            server.signal(Signal::CONT).await;
        }
        Fault::Cut(link) => link.of(server).into_iter().for_each(Shim::cut),
        Fault::Hold(link, held) => {
            let Some(relay) = link.of(server) else { return };
            relay.hold(held);
            sleep(lasts).await;
            relay.hold(Held::default());
            // A network that was away for long has often lost its connections too.
            if rng.bool() {
                relay.cut();
            }
        }
    }
}

async fn launch_clocked(fleet: &Fleet, at: usize, rng: &mut Rng) {
    // The clock of a database in a file is that of its processes, which one machine never sees to differ.
    let has_clock = fleet.servers[at].database.is_some();
    let clock = (at == CLOCK && has_clock).then(|| if rng.bool() { "+1h" } else { "-1h" });
    let earlier = fleet.launch(&fleet.servers[at], clock).await;
    drop(earlier);
}
