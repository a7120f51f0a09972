//! A row and a notification for each token, as `@workflow/world-postgres` passes text on.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};
use tokio_postgres::{Client, NoTls};

use super::database::Database;
use crate::relay::report::Line;
use crate::relay::scenario::{as_f64, at};

/// The number of runs, and the time between two tokens of each.
const RUNS: usize = 500;
const EVERY: Duration = Duration::from_millis(20);

/// The connections of a server, as many as its pool has by default. Statements of runs that share one are pipelined here.
const CONNECTIONS: usize = 10;

const TABLE: &str = "
    create table chunk (id text, stream text, run text, data bytea not null, eof boolean not null, primary key (stream, id));
    create index on chunk (run)";

/// Writes the tokens of the runs at their pace, or as fast as the database takes them.
pub(super) async fn measure(database: &Database, seconds: u64) -> Result<Vec<Line>, Box<dyn Error>> {
    let url = database.url();
    let listener = connect(&url).await?;
    listener.batch_execute(TABLE).await?;
    listener.batch_execute("listen chunks").await?;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Arc::new(connect(&url).await?));
    }
    let (before, end) = (database.work()?, Instant::now() + Duration::from_secs(seconds));
    let writers: Vec<_> = (0..RUNS)
        .zip(clients.iter().cycle())
        .map(|(run, client)| tokio::spawn(write(run, Arc::clone(client), end)))
        .collect();
    let mut times = Vec::new();
    for writer in writers {
        times.extend(writer.await??);
    }
    let rates = database.since(&before)?;
    let rate = as_f64(times.len()) / rates.seconds;
    let what = format!("a row and a notification a token, {RUNS} runs of 50 tokens a second");
    let mut lines = vec![
        Line::alone(format!("{what}: tokens a second"), rate, ""),
        Line::alone(
            format!("{what}: tokens that were written, of those that were due"),
            rate * EVERY.as_secs_f64() / as_f64(RUNS),
            "×",
        ),
        Line::alone(format!("{what}: from due to written, p50"), at(&times, 50) / 1e3, "ms"),
        Line::alone(format!("{what}: from due to written, p99"), at(&times, 99) / 1e3, "ms"),
    ];
    lines.extend(rates.lines(&what));
    Ok(lines)
}

/// Writes the tokens of a run, and returns the microseconds from the time of each to the end of its notification.
async fn write(run: usize, client: Arc<Client>, end: Instant) -> Result<Vec<u64>, tokio_postgres::Error> {
    let insert = client.prepare("insert into chunk values ($1, $2, $3, $4, false)").await?;
    let notify = client.prepare("select pg_notify('chunks', $1)").await?;
    let (stream, token) = (format!("strm_{run:026}"), vec![b'x'; 60]);
    let (mut ticks, mut times) = (interval(EVERY), Vec::new());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    while let Ok(due) = timeout_at(end, ticks.tick()).await
        && Instant::now() < end
    {
        let id = format!("chnk_{:026}", times.len());
        client.execute(&insert, &[&id, &stream, &stream, &token]).await?;
        let hint = format!(r#"{{"chunkId":"{id}","streamId":"{stream}"}}"#);
        client.execute(&notify, &[&hint]).await?;
        times.push(u64::try_from(due.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    Ok(times)
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // An error of the connection is also that of the next statement.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}
