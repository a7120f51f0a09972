//! Clients of another instance than the one that drives their runs.

use std::error::Error;
use std::time::Duration;

use omniassist_test_databases::Redis;
use tokio::time::sleep;

use super::database::Database;
use crate::relay::client::{self, Connection};
use crate::relay::report::Line;
use crate::relay::scenario::{Bench, Streams, at};
use crate::relay::wish::Wish;

/// The number of runs, and the deltas of each, 50 a second.
const RUNS: usize = 20;
const DELTAS: usize = 500;

/// Measures the latency of a token at the other instance, with hints of PostgreSQL and with Redis.
pub(super) async fn measure(database: &Database) -> Result<Vec<Line>, Box<dyn Error>> {
    let redis = Redis::start();
    let (times, redis) = (database.times()?, redis.url());
    let mut lines = Vec::new();
    for (what, variant, last, bound) in
        [("NOTIFY", "postgres", &times, 60.0), ("Redis", "redis", &redis, 25.0)]
    {
        let latencies = latencies(&[variant, &database.url(), last]).await?;
        let figure = |percent| format!("latency of a viewer at another instance, {what}, p{percent}");
        lines.push(Line::alone(figure(50), at(&latencies, 50) / 1e3, "ms").at_most(bound));
        lines.push(Line::alone(figure(99), at(&latencies, 99) / 1e3, "ms"));
    }
    Ok(lines)
}

/// Returns the microseconds from the provider's write of each token to the read at the other instance.
async fn latencies(variant: &[&str]) -> Result<Vec<u64>, Box<dyn Error>> {
    let streams = Streams { deltas: DELTAS, every_us: 20_000, token_writes: true };
    let bench = Bench::start_known(streams, variant)?;
    let other = bench.beside(variant)?;
    let mut owners = Vec::new();
    for number in 0..RUNS {
        let mut owner = Connection::open(bench.server.address).await?;
        owner.post_body(client::body(&format!("elsewhere-{number}"), &Wish::Usual.text()).as_bytes()).await?;
        owners.push(owner);
    }
    sleep(Duration::from_secs(2)).await;
    let viewers: Vec<_> = (0..RUNS)
        .map(|number| {
            let address = other.address;
            tokio::spawn(async move {
                let mut ages = Vec::new();
                let mut viewer = Connection::open(address).await.map_err(|error| error.to_string())?;
                let chat = format!("elsewhere-{number}");
                let read = viewer.follow(&chat, |stamp, arrived| ages.push(stamp.age(arrived)));
                read.await.map_err(|error| error.to_string())?;
                Ok::<_, String>(ages)
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for viewer in viewers {
        let ages = viewer.await??;
        if ages.len() != DELTAS {
            return Err(format!("{} of {DELTAS} deltas arrived at the other instance", ages.len()).into());
        }
        // Those before were in the replay.
        latencies.extend(ages.into_iter().skip(DELTAS / 2));
    }
    other.end()?;
    bench.end()?;
    Ok(latencies)
}
