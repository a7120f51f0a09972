//! The task that writes to the stream.

use std::sync::Arc;
use std::time::Duration;

use redis::{RedisResult, cmd, pipe};
use tokio::time::sleep;

use crate::entry::Entry;
use crate::link::Link;
use crate::shared::Shared;

/// The time after which an entry is trimmed, and the stream without entries expires, in milliseconds.
const KEEP: (u64, u64) = (5_000, 10_000);

/// The time for which later hints and pieces join an entry.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest time for a write.
const RESPONSE: Duration = Duration::from_secs(1);

/// The shortest and the longest pause between two tries to reach the server.
pub(crate) const DELAY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Writes what is sent, in one entry for all of it. While the server does not work, nothing is kept.
pub(crate) async fn write(shared: Arc<Shared>) {
    let link = shared.redis.new_link(RESPONSE);
    let mut oldest = 0;
    loop {
        shared.filled.notified().await;
        let entry = shared.take();
        if entry.is_empty() {
            continue;
        }
        match add(&shared, &link, &entry, oldest).await {
            Ok(written) => {
                shared.health.recover(&shared.health.writes);
                oldest = written.saturating_sub(KEEP.0);
                sleep(PAUSE).await;
            }
            Err(error) => {
                shared.health.fail(&shared.health.writes, &error);
                shared.wake_below(&entry.hints);
                shared.wake_below(&shared.take().hints);
                until_reached(&link).await;
                // The next write decides.
                shared.health.try_writes();
            }
        }
    }
}

/// Adds an entry, and returns its time in milliseconds.
async fn add(shared: &Shared, link: &Link, entry: &Entry, oldest: u64) -> RedisResult<u64> {
    let mut add = cmd("XADD");
    add.arg(&shared.stream).arg("MINID").arg(oldest).arg("*");
    add.arg("by").arg(shared.me.as_bytes()).arg("1").arg(entry.to_bytes());
    let mut both = pipe();
    // Atomic, so that the stream never stays without an expiry.
    both.atomic().add_command(add).cmd("PEXPIRE").arg(&shared.stream).arg(KEEP.1).ignore();
    let (id,): (String,) = link.send(async |mut connection| both.query_async(&mut connection).await).await?;
    Ok(id.split_once('-').and_then(|(time, _)| time.parse().ok()).unwrap_or(0))
}

async fn until_reached(link: &Link) {
    let mut delay = DELAY.0;
    loop {
        sleep(delay).await;
        let ping: RedisResult<()> =
            link.send(async |mut connection| cmd("PING").query_async(&mut connection).await).await;
        if ping.is_ok() {
            return;
        }
        delay = (delay * 2).min(DELAY.1);
    }
}
