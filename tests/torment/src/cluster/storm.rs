//! Streams over servers that are killed, frozen and cut off.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::client::Client;
use super::faults;
use super::fleet::{Fleet, SERVERS};
use super::verdict;
use crate::shape::Shape;

/// The shapes of the streams.
const SHAPES: [Shape; 10] = [
    Shape::Text,
    Shape::Call,
    Shape::Parallel,
    Shape::Idempotent,
    Shape::Approval,
    Shape::Steps,
    Shape::Port,
    Shape::Agents,
    Shape::Nested,
    Shape::Asked,
];

/// The time in which a database notices that its clients are gone. Keys of Redis expire after 10 s.
const GONE: Duration = Duration::from_secs(15);

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
    println!("{} faults: {faults:?}", faults.values().sum::<usize>());
    println!("{} streams: {states:?}; {lost} lost connections, {handed_over} hand-overs seen", ended.len());
    found.extend(left(&fleet).await);
    println!("took {:.0} s", began.elapsed().as_secs_f32());
    if !found.is_empty() {
        println!("the servers said:\n{}", fleet.logs());
    }
    found
}

/// Ends the servers, and returns what is left of the disturbances, and what the servers leave behind.
async fn left(fleet: &Fleet) -> Vec<String> {
    let mut found = Vec::new();
    let expected = if fleet.database.has_hints() { SERVERS } else { 0 };
    if !within(GONE, || fleet.database.listeners() == expected).await {
        found.push(format!("{SERVERS} servers have {} listeners", fleet.database.listeners()));
    }
    fleet.stop().await;
    if !within(GONE, || fleet.database.left().iter().all(|(_, number)| *number == 0)).await {
        let left = fleet.database.left().into_iter().filter(|(_, number)| *number > 0);
        found.extend(left.map(|(what, number)| format!("{number} {what} are left")));
        println!("connections to the database:\n{}", fleet.database.connections());
    }
    let open: usize = fleet.servers.iter().map(|server| server.clients.open()).sum();
    if open > 0 {
        found.push(format!("{open} connections of clients are left"));
    }
    found
}

/// Waits until a condition holds. Returns `false` if it does not.
async fn within(time: Duration, condition: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !condition() {
        if since.elapsed() > time {
            return false;
        }
        sleep(Duration::from_millis(200)).await;
    }
    true
}
