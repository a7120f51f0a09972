//! Faults of servers and of their connections, at random.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::Signal;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::fleet::{Fleet, SERVERS, Server};
use super::shim::{Held, Shim};

/// The time for which a process is frozen: longer than its lease.
const FROZEN: Duration = Duration::from_secs(15);

/// The server whose clock differs.
const CLOCK: usize = SERVERS - 1;

/// A fault of one server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGSTOP and, later, SIGCONT: the process does not know that it has lost its runs.
    Freeze,
    CutClients,
    CutDatabase,
    /// Nothing reaches the clients, or the server, or neither.
    HoldClients(Held),
    HoldDatabase(Held),
}

/// Disturbs servers until `stopped`, and heals them. Returns the faults.
pub(crate) async fn disturb(fleet: Arc<Fleet>, seed: u64, stopped: Arc<AtomicBool>) -> Vec<Fault> {
    let mut rng = Rng::with_seed(seed);
    let (mut faults, mut healing) = (Vec::new(), JoinSet::new());
    let mut busy: [Option<Instant>; SERVERS] = [None; SERVERS];
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
            Fault::CutClients | Fault::CutDatabase => Duration::ZERO,
            Fault::HoldClients(_) | Fault::HoldDatabase(_) => Duration::from_millis(rng.u64(1_000..12_000)),
        };
        busy[at] = Some(now + lasts);
        faults.push(fault);
        let (fleet, mut rng) = (Arc::clone(&fleet), rng.fork());
        healing.spawn(async move { suffer(&fleet, at, fault, lasts, &mut rng).await });
    }
    healing.join_all().await;
    faults
}

fn choose(server: &Server, rng: &mut Rng) -> Fault {
    let held = match rng.u8(0..3) {
        0 => Held { up: true, down: false },
        1 => Held { up: false, down: true },
        _ => Held { up: true, down: true },
    };
    let has_database = server.database.is_some();
    match rng.u8(0..if has_database { 12 } else { 8 }) {
        0..3 => Fault::Kill,
        3..5 => Fault::Freeze,
        5 => Fault::CutClients,
        6..8 => Fault::HoldClients(held),
        8 | 9 => Fault::CutDatabase,
        _ => Fault::HoldDatabase(held),
    }
}

async fn suffer(fleet: &Fleet, at: usize, fault: Fault, lasts: Duration, rng: &mut Rng) {
    let server = &fleet.servers[at];
    let hold = async |relay: &Shim, held| {
        relay.hold(held);
        sleep(lasts).await;
        relay.hold(Held::default());
        // A network that was away for long has often lost its connections too.
        if rng.clone().bool() {
            relay.cut();
        }
    };
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
        Fault::CutClients => server.clients.cut(),
        Fault::HoldClients(held) => hold(&server.clients, held).await,
        Fault::CutDatabase => server.database.iter().for_each(Shim::cut),
        Fault::HoldDatabase(held) => {
            if let Some(relay) = &server.database {
                hold(relay, held).await;
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
