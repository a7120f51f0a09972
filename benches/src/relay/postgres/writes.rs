//! The writes of a store alone: runs that begin, and their text.

use std::error::Error;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use omniassist_postgres::PostgresStore;
use omniassist_server::store::{
    Appended, Begun, Durability, InstanceId, NewRun, RunId, RunStore, Scope, Segment, SegmentKind, Writer,
};

use super::database::Database;
use crate::relay::report::Line;
use crate::relay::scenario::{as_f64, at};

/// The numbers of runs.
const RUNS: [usize; 3] = [500, 2000, 8000];

/// The bytes of a segment: the text and the lengths of the tokens of 100 ms, at 50 tokens a second.
const SEGMENT: usize = 40;

/// The segments of one statement, as in the engine.
const BATCH: usize = 1024;

/// Begins runs, and writes their text as fast as the database takes it.
pub(super) async fn measure(database: &Database, seconds: u64) -> Result<Vec<Line>, Box<dyn Error>> {
    let mut lines = Vec::new();
    for runs in RUNS {
        let store = PostgresStore::connect(&database.url()).await?;
        let before = database.work()?;
        let writers = begin(&store, runs).await?;
        let rates = database.since(&before)?;
        let name = |figure: &str| format!("the writes of {runs} runs alone: {figure}");
        lines.push(Line::alone(name("begun a second"), as_f64(runs) / rates.seconds, ""));
        let milliseconds = rates.cores * rates.seconds * 1e3 / as_f64(runs);
        lines.push(Line::alone(name("the database's CPU for one that begins"), milliseconds, "ms"));
        let kilobytes = rates.wal * rates.seconds * 1e3 / as_f64(runs);
        lines.push(Line::alone(name("write-ahead log of one that begins"), kilobytes, "KB"));
        let (before, began) = (database.work()?, Instant::now());
        let mut times = Vec::new();
        for pos in 2.. {
            if began.elapsed().as_secs() >= seconds {
                break;
            }
            let written = Instant::now();
            write(&store, &writers, pos).await?;
            times.push(u64::try_from(written.elapsed().as_micros())?);
        }
        let rates = database.since(&before)?;
        let segments = as_f64(times.len() * runs);
        lines.push(Line::alone(name("segments a second"), segments / rates.seconds, ""));
        let micros = rates.cores * rates.seconds * 1e6 / segments;
        lines.push(Line::alone(name("the database's CPU for a segment"), micros, "µs"));
        lines.push(Line::alone(name("one segment of each, p50"), at(&times, 50) / 1e3, "ms"));
        lines.push(Line::alone(name("one segment of each, p99"), at(&times, 99) / 1e3, "ms"));
        lines.extend(rates.lines(&name("text")));
    }
    Ok(lines)
}

async fn begin(store: &PostgresStore, runs: usize) -> Result<Vec<Writer>, Box<dyn Error>> {
    let me = InstanceId::random();
    store.beat(me, Duration::from_secs(600), 0).await?;
    let begun = stream::iter(0..runs).map(|run| async move {
        let new = NewRun::new(RunId::random(), Scope::new("bench"), format!("chat-{run}"), me);
        match store.begin(&new).await? {
            Begun::Started(writer) => Ok(writer),
            other => Err(Box::<dyn Error>::from(format!("{other:?}"))),
        }
    });
    begun.buffer_unordered(16).try_collect().await
}

/// Writes a segment of each run.
async fn write(store: &PostgresStore, writers: &[Writer], pos: u32) -> Result<(), Box<dyn Error>> {
    for batch in writers.chunks(BATCH) {
        let segment =
            |writer: &Writer| Segment::new(*writer, pos, SegmentKind::Text, pos * 5, vec![b'x'; SEGMENT]);
        let segments: Vec<_> = batch.iter().map(segment).collect();
        let answers = store.append(&segments, Durability::Soft).await?;
        if let Some(answer) = answers.iter().find(|answer| !matches!(answer, Appended::Taken(_))) {
            return Err(format!("{answer:?}").into());
        }
    }
    Ok(())
}
