//! A rolling deployment under load: servers are replaced one after the other, and afterwards killed one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::Client;
use super::fleet::{Fleet, SERVERS, end};
use super::times::{Pace, Times};
use super::verdict;
use crate::shape::{Shape, Tempo};

/// Answers of half a minute, so that all streams are under way at once.
pub(crate) const TEMPO: Tempo =
    Tempo { word: Duration::from_millis(600), tool: Duration::from_millis(1_000) };

/// The shapes with long answers.
const SHAPES: [Shape; 2] = [Shape::Text, Shape::Port];

/// The time over which the streams begin.
const RAMP: Duration = Duration::from_secs(5);

/// The time between two servers that are replaced, and between two that are killed.
const BETWEEN: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(12));

/// The longest time without a server of a run: after SIGTERM, and after SIGKILL.
const SOON: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));

/// The streams that one machine hands over in this time: it also has the database, all servers and all clients.
const AT_ONCE: usize = 150;

/// A part of the test, in which each server is ended once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The servers are replaced by those of this version.
    Deploy,
    /// The servers are replaced by those of the earlier version.
    RollBack,
    /// The servers are killed.
    Kill,
}

/// Ends the servers of a fleet, whose program is that of an earlier version if there is one.
pub(crate) async fn run(fleet: Fleet, streams: usize, earlier: Option<&Path>) -> Vec<String> {
    let fleet = Arc::new(fleet);
    let this = std::env::current_exe().unwrap();
    let mut phases: Vec<(Phase, PathBuf)> = vec![(Phase::Deploy, this.clone())];
    phases.extend(earlier.map(|earlier| (Phase::RollBack, earlier.to_owned())));
    phases.push((Phase::Kill, this));
    let mut found = Vec::new();
    for (phase, program) in phases {
        fleet.set_program(program).await;
        let pace = Pace::start();
        let (clients, signals) = under_load(&fleet, streams, phase).await;
        let mut times = Times::default();
        for at in clients.iter().flat_map(|(client, _)| &client.handed_over) {
            // A run is handed over after the latest signal before it.
            let signal = signals.iter().rfind(|signal| *signal <= at);
            times.push(signal.map_or(Duration::MAX, |signal| at.duration_since(*signal)));
        }
        let failed = clients.iter().filter(|(_, violations)| !violations.is_empty()).count();
        let crowd = Duration::from_secs(1).mul_f64(streams.saturating_sub(AT_ONCE) as f64 / AT_ONCE as f64);
        // A run without text has nothing to withdraw. The first that its client sees is the model's first word.
        let soon = if phase == Phase::Kill { SOON.1 } else { SOON.0 };
        let limit = pace.limit(soon + TEMPO.word + crowd);
        let given_up = clients.iter().filter(|(client, _)| client.state == "interrupted").count();
        println!(
            "{phase:?} of {SERVERS} servers under {streams} streams: {failed} failed, {given_up} given up"
        );
        println!("hand-overs: {times}; the limit of p50 is {limit:.1?} on a machine as busy as this");
        // A run that is not handed over waits for the end of a lease, as do all others then. The tail is the machine's.
        if times.at(50) > limit {
            found.push(format!("half of the hand-overs in {phase:?} take {:?} and more", times.at(50)));
        }
        if times.at(100) == Duration::ZERO {
            found.push(format!("no run was handed over in {phase:?}"));
        }
        found.extend(clients.into_iter().flat_map(|(client, violations)| {
            violations
                .into_iter()
                .map(move |one| format!("{phase:?}, {} ({:?}): {one}", client.name, client.shape))
        }));
    }
    fleet.stop().await;
    if !found.is_empty() {
        println!("the servers said:\n{}", fleet.logs());
    }
    found
}

/// Replaces or kills the servers while the streams run. Returns the clients, and the times of the signals.
async fn under_load(
    fleet: &Arc<Fleet>,
    streams: usize,
    phase: Phase,
) -> (Vec<(Client, Vec<String>)>, Vec<Instant>) {
    let mut running = JoinSet::new();
    for number in 0..streams {
        let name = format!("{phase:?}{number}");
        let mut client = Client::new(fleet, SHAPES[number % SHAPES.len()], name);
        running.spawn(async move {
            sleep(RAMP.mul_f64(fastrand::f64())).await;
            let mut violations = match client.lead().await {
                Ok(()) => verdict::violations(&client).await,
                Err(stuck) => vec![stuck],
            };
            if phase != Phase::Kill && client.state == "interrupted" {
                violations.push("the run was given up".to_owned());
            }
            (client, violations)
        });
    }
    sleep(RAMP).await;
    let mut signals = Vec::new();
    for server in &fleet.servers {
        if phase == Phase::Kill {
            signals.push(Instant::now());
            server.kill().await;
            sleep(Duration::from_secs(1)).await;
            fleet.launch(server, None).await;
            sleep(BETWEEN.1).await;
        } else {
            // The new process has the port of its server before the old one ends.
            let earlier = fleet.launch(server, None).await;
            signals.push(Instant::now());
            if let Some(earlier) = earlier {
                end(earlier).await;
            }
            sleep(BETWEEN.0).await;
        }
    }
    (running.join_all().await, signals)
}
