//! The task that reads the stream.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_server::store::Woken;
use redis::streams::{StreamId, StreamRangeReply, StreamReadReply};
use redis::{RedisResult, cmd};
use tokio::time::sleep;

use crate::entry::Entry;
use crate::link::Link;
use crate::shared::Shared;
use crate::writer::DELAY;

/// The time for which the server holds a read without an entry, in milliseconds.
const BLOCK: u64 = 250;

/// The longest time for a read.
const RESPONSE: Duration = Duration::from_secs(1);

/// The time between two looks at the store while the server does not work.
const LOOK: Duration = Duration::from_millis(100);

/// The number of entries in one read, each of up to about 1 MiB, within [`RESPONSE`].
const COUNT: usize = 16;

/// The name of an entry: a time in milliseconds, and a number.
type Id = (u64, u64);

/// Reads the entries of other servers.
///
/// While the server does not work, the receivers of hints are told again and again that they have missed some, so that
/// they look at the store.
pub(crate) async fn read(shared: Arc<Shared>) {
    let link = shared.redis.new_link(RESPONSE);
    let missed = || drop(shared.hints.send(Woken::Missed));
    let (mut last, mut delay) = (None, Duration::ZERO);
    loop {
        let read = {
            let next = async {
                sleep(delay).await;
                next(&shared, &link, last).await
            };
            tokio::pin!(next);
            loop {
                tokio::select! {
                    read = &mut next => break read,
                    () = sleep(LOOK), if !delay.is_zero() => missed(),
                }
            }
        };
        match read {
            Ok((id, entries)) => {
                // An expired stream has had no entries for some time.
                let began_again = id != Id::default() && last.is_some_and(|last| id < last);
                if !delay.is_zero() || began_again {
                    missed();
                }
                if !delay.is_zero() {
                    shared.health.recover(&shared.health.reads);
                }
                (last, delay) = (Some(id), Duration::ZERO);
                entries.iter().for_each(|entry| receive(&shared, entry));
            }
            Err(error) => {
                shared.health.fail(&shared.health.reads, &error);
                missed();
                delay = (delay * 2).clamp(DELAY.0, DELAY.1);
            }
        }
    }
}

/// Reads the entries after the last one that was read, and returns the new last one. Without one, it begins at the end.
///
/// An id before the last one belongs to a stream that began again on an earlier clock.
async fn next(shared: &Shared, link: &Link, last: Option<Id>) -> RedisResult<(Id, Vec<StreamId>)> {
    let Some(last) = last else { return Ok((end(shared, link).await?, Vec::new())) };
    let mut read = cmd("XREAD");
    read.arg("COUNT").arg(COUNT).arg("BLOCK").arg(BLOCK);
    read.arg("STREAMS").arg(&shared.stream).arg(format!("{}-{}", last.0, last.1));
    let reply: Option<StreamReadReply> =
        link.send(async |mut connection| read.query_async(&mut connection).await).await?;
    let entries: Vec<_> = reply.into_iter().flat_map(|reply| reply.keys).flat_map(|key| key.ids).collect();
    match entries.last() {
        Some(entry) => Ok((id_of(entry), entries)),
        None => Ok((end(shared, link).await?.min(last), Vec::new())),
    }
}

/// Returns the id of the stream's last entry.
async fn end(shared: &Shared, link: &Link) -> RedisResult<Id> {
    let mut range = cmd("XREVRANGE");
    range.arg(&shared.stream).arg("+").arg("-").arg("COUNT").arg(1);
    let reply: StreamRangeReply =
        link.send(async |mut connection| range.query_async(&mut connection).await).await?;
    Ok(reply.ids.last().map(id_of).unwrap_or_default())
}

fn id_of(entry: &StreamId) -> Id {
    let parts =
        entry.id.split_once('-').and_then(|(time, number)| Some((time.parse().ok()?, number.parse().ok()?)));
    parts.unwrap_or_default()
}

fn receive(shared: &Shared, entry: &StreamId) {
    let is_own = entry.get::<Vec<u8>>("by").is_some_and(|by| by == shared.me.as_bytes());
    let Some(content) = entry.get::<Vec<u8>>("1").filter(|_| !is_own) else { return };
    let Entry { hints, pieces } = Entry::read(Bytes::from(content));
    // Nobody may listen.
    if !hints.is_empty() {
        drop(shared.hints.send(Woken::Hints(hints)));
    }
    if !pieces.is_empty() {
        drop(shared.pieces.send(pieces));
    }
}
