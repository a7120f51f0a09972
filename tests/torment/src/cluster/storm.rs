//! Streams over servers that are killed, frozen and cut off.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::client::Client;
use super::faults;
use super::fleet::Fleet;
use super::verdict;
use crate::shape::Shape;

/// The shapes of the streams.
const SHAPES: [Shape; 7] = [
    Shape::Text,
    Shape::Call,
    Shape::Parallel,
    Shape::Idempotent,
    Shape::Approval,
    Shape::Steps,
    Shape::Port,
];

/// The time in which a database notices that its clients are gone.
const GONE: Duration = Duration::from_secs(10);

/// Spreads streams over a time, and returns the violations.
pub(crate) async fn run(fleet: Fleet, lasts: Duration, streams: usize, seed: u64) -> Vec<String> {
    println!("{streams} streams in {:.1} minutes; seed {seed}", lasts.as_secs_f32() / 60.0);
    let (fleet, began) = (Arc::new(fleet), Instant::now());
    let stopped = Arc::new(AtomicBool::new(false));
    let disturbed = tokio::spawn(faults::disturb(Arc::clone(&fleet), seed, Arc::clone(&stopped)));
    let mut running = JoinSet::new();
    let pace = lasts / u32::try_from(streams).unwrap();
    for number in 0..streams {
        sleep_until((began + pace * u32::try_from(number).unwrap()).into()).await;
        let mut client = Client::new(&fleet, SHAPES[number % SHAPES.len()], format!("s{number}"));
        running.spawn(async move {
            let led = client.lead().await;
            let found = match led {
                Ok(()) => verdict::violations(&client).await,
                Err(stuck) => vec![stuck],
            };
            (client, found)
        });
    }
    let ended = running.join_all().await;
    stopped.store(true, Ordering::Relaxed);
    let faults = disturbed.await.unwrap();

    let mut found: Vec<String> = Vec::new();
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lost, mut handed_over) = (0, 0);
    for (client, violations) in &ended {
        *states.entry(client.state.clone()).or_default() += 1;
        lost += client.lost;
        handed_over += client.handed_over.len();
        let told = violations.iter().map(|one| format!("{} ({:?}): {one}", client.name, client.shape));
        found.extend(told);
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for fault in &faults {
        *kinds.entry(format!("{fault:?}").split('(').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    println!("{} faults: {kinds:?}", faults.len());
    println!("{} streams: {states:?}; {lost} lost connections, {handed_over} hand-overs seen", ended.len());
    found.extend(left(&fleet).await);
    println!("took {:.0} s", began.elapsed().as_secs_f32());
    if !found.is_empty() {
        println!("the servers said:\n{}", fleet.logs());
    }
    found
}

/// Ends the servers, and returns what they leave behind.
async fn left(fleet: &Fleet) -> Vec<String> {
    fleet.stop().await;
    let since = Instant::now();
    while fleet.database.connections() > 0 && since.elapsed() < GONE {
        sleep(Duration::from_millis(100)).await;
    }
    let mut found = Vec::new();
    let connections = fleet.database.connections();
    if connections > 0 {
        found.push(format!("{connections} connections to the database are left"));
    }
    let open: usize = fleet.servers.iter().map(|server| server.clients.open()).sum();
    if open > 0 {
        found.push(format!("{open} connections of clients are left"));
    }
    found
}
