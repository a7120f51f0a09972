//! The figures of a server with a store, and those of the same server without one.

use std::error::Error;
use std::time::{Duration, Instant};

use omniassist_server::Principal;
use omniassist_server::store::{
    Begun, Durability, InstanceId, NewRun, RunId, RunStore, Scope, Segment, SegmentKind,
};
use omniassist_sqlite::SqliteStore;
use tokio::time::sleep;

use super::file::File;
use super::server::PRINCIPAL;
use crate::relay::client::{self, Connection, Keep};
use crate::relay::report::Line;
use crate::relay::scenario::{Bench, Cost, Streams, as_f64, at};
use crate::relay::table::median;
use crate::relay::wish::Wish;
use crate::stages::{conversation, seals};

/// The cost without and with a store, for each repetition.
async fn both(
    repeat: usize,
    streams: Streams,
    connections: usize,
    requests: usize,
) -> Result<Vec<[Cost; 2]>, Box<dyn Error>> {
    let mut rounds = Vec::new();
    for _ in 0..repeat {
        let bench = Bench::start_known(streams, &["known"])?;
        let without = bench.cost(connections, requests, streams.deltas).await?;
        bench.end()?;
        let file = File::new()?;
        let bench = Bench::start_known(streams, &["stored", &file.name()?])?;
        let with = bench.cost(connections, requests, streams.deltas).await?;
        bench.end()?;
        rounds.push([without, with]);
    }
    Ok(rounds)
}

/// Returns the line of the repetition whose difference is the median.
fn compared(figure: String, rounds: &[[Cost; 2]], unit: &'static str, value: fn(&Cost) -> f64) -> Line {
    let mut pairs: Vec<[f64; 2]> = rounds.iter().map(|pair| pair.each_ref().map(value)).collect();
    pairs.sort_by(|[a, b], [c, d]| (b - a).total_cmp(&(d - c)));
    let [without, with] = pairs.get(pairs.len() / 2).copied().unwrap_or([f64::NAN; 2]);
    Line::compared(figure, without, with, unit)
}

/// Measures the processor time and the latency of a token.
pub(super) async fn tokens(repeat: usize) -> Result<Vec<Line>, Box<dyn Error>> {
    let mut lines = Vec::new();
    let streams = Streams { deltas: 2000, every_us: 0, token_writes: true };
    let full = both(repeat, streams, 32, 2).await?;
    let figure = "CPU a token at full speed, answers of 2,000 tokens".to_owned();
    lines.push(compared(figure, &full, "µs", |cost| cost.cpu).at_most(1.0));
    for connections in [1, 100] {
        let streams = Streams { deltas: 400, every_us: 20_000, token_writes: true };
        let paced = both(repeat, streams, connections, 1).await?;
        let what = format!("{connections} streams of 50 tokens a second for 8 s");
        lines.push(compared(format!("CPU a token, {what}"), &paced, "µs", |cost| cost.cpu).at_most(1.0));
        lines.push(compared(format!("latency p50, {what}"), &paced, "µs", |cost| cost.p50).at_most(20.0));
        lines.push(compared(format!("latency p99, {what}"), &paced, "µs", |cost| cost.p99));
    }
    Ok(lines)
}

/// Measures the time to the first token beside the time of a commit in the same folder.
pub(super) async fn first(repeat: usize) -> Result<Vec<Line>, Box<dyn Error>> {
    let streams = Streams { deltas: 3, every_us: 0, token_writes: false };
    let before = commit().await?;
    let rounds = both(repeat, streams, 1, 200).await?;
    let commit = median(&mut [before, commit().await?]);
    let figure = format!("first token p50, and a bound of one commit ({commit:.0} µs)");
    Ok(vec![
        compared(figure, &rounds, "µs", |cost| cost.first).at_most(commit),
        compared("CPU of an answer of 3 tokens".to_owned(), &rounds, "µs", |cost| cost.cpu_per_request),
    ])
}

/// Returns the median of the microseconds of a durable commit of one segment.
async fn commit() -> Result<f64, Box<dyn Error>> {
    let file = File::new()?;
    let store = SqliteStore::open(file.path())?;
    let new = NewRun::new(RunId::random(), Scope::new(PRINCIPAL), "chat", InstanceId::random());
    let Begun::Started(writer) = store.begin(&new).await? else { return Err("no run".into()) };
    let mut times = Vec::new();
    for pos in 2..200 {
        let segment = Segment::new(writer, pos, SegmentKind::Consequence, pos, vec![0; 100]);
        let began = Instant::now();
        store.append(&[segment], Durability::Hard).await?;
        times.push(u64::try_from(began.elapsed().as_micros())?);
    }
    Ok(at(&times, 50))
}

/// Measures the time to the first byte of a resumed stream.
pub(super) async fn resume() -> Result<Vec<Line>, Box<dyn Error>> {
    let mut lines = Vec::new();
    for (what, every_us) in [("goes on", 20_000), ("has ended", 0)] {
        let file = File::new()?;
        let streams = Streams { deltas: 400, every_us, token_writes: true };
        let bench = Bench::start_known(streams, &["stored", &file.name()?])?;
        let body = client::body("resumed", &Wish::Usual.text());
        let mut owner = Connection::open(bench.server.address).await?;
        owner.post_body(body.as_bytes()).await?;
        sleep(Duration::from_secs(4)).await;
        let mut times = Vec::new();
        for _ in 0..200 {
            let mut viewer = Connection::open(bench.server.address).await?;
            times.push(viewer.resume("resumed").await?);
        }
        lines.push(
            Line::alone(format!("resume of a run that {what}: first byte, p50"), at(&times, 50) / 1e3, "ms")
                .at_most(3.0),
        );
        lines.push(Line::alone("the same, p99", at(&times, 99) / 1e3, "ms"));
        bench.end()?;
    }
    Ok(lines)
}

/// Counts the rows of an answer.
pub(super) async fn rows() -> Result<Vec<Line>, Box<dyn Error>> {
    const SECONDS: usize = 8;
    let file = File::new()?;
    let streams = Streams { deltas: 50 * SECONDS, every_us: 20_000, token_writes: true };
    let bench = Bench::start_known(streams, &["stored", &file.name()?])?;
    // The server has opened the file when it answers.
    bench.ask(1, 1, Wish::Deltas(1), Keep::default()).await?;
    file.count_rows()?;
    bench.ask(1, 1, Wish::Usual, Keep::default()).await?;
    bench.end()?;
    let bound = as_f64(10 * SECONDS + 12);
    let figure = format!("rows of an answer of {SECONDS} s");
    Ok(vec![Line::alone(figure, f64::from(file.written()?), "rows").at_most(bound)])
}

/// Measures the file of a conversation of 1,000 messages.
pub(super) async fn size() -> Result<Vec<Line>, Box<dyn Error>> {
    let file = File::new()?;
    let streams = Streams { deltas: 1, every_us: 0, token_writes: false };
    let bench = Bench::start_known(streams, &["stored", &file.name()?])?;
    // The server has opened the file when it answers.
    bench.ask(1, 1, Wish::Deltas(1), Keep::default()).await?;
    let empty = file.bytes()?;
    let body = conversation::posted(&seals::keys()?, &Principal::new(PRINCIPAL))?;
    Connection::open(bench.server.address).await?.ask_body(&body).await?;
    bench.end()?;
    let (bytes, messages) = file.size()?;
    let (bytes, messages) = (float(bytes.saturating_sub(empty)), float(messages));
    let posted = as_f64(body.len());
    Ok(vec![
        Line::alone("1,000 messages as posted", posted / 1e6, "MB"),
        Line::alone("their bodies in the file", messages / 1e6, "MB"),
        Line::alone("growth of the file, × posted JSON", bytes / posted, "×").at_most(1.5),
        Line::alone("growth of the file, × their bodies", bytes / messages, "×"),
    ])
}

/// Measures the replay of an answer of 2,000 tokens on the server.
pub(super) async fn replay() -> Result<Vec<Line>, Box<dyn Error>> {
    let file = File::new()?;
    let streams = Streams { deltas: 2000, every_us: 0, token_writes: true };
    let bench = Bench::start_known(streams, &["stored", &file.name()?])?;
    let mut connection = Connection::open(bench.server.address).await?;
    let mut answer = Vec::new();
    connection.post_body(client::body("replayed", &Wish::Usual.text()).as_bytes()).await?;
    connection.read_answer(Some(&mut answer), |_, _| ()).await?;
    let mut times = Vec::new();
    let mut replayed = Vec::new();
    let before = bench.server.cpu()?;
    for _ in 0..100 {
        let began = Instant::now();
        connection.resume("replayed").await?;
        replayed = connection.rest().await?;
        times.push(u64::try_from(began.elapsed().as_micros())?);
    }
    let cpu = float(bench.server.cpu()? - before) / 1e8;
    bench.end()?;
    let kilobytes = |bytes: &[u8]| as_f64(bytes.len()) / 1024.0;
    Ok(vec![
        Line::alone("2,000 tokens as they were sent", kilobytes(&answer), "KB"),
        Line::alone("their replay", kilobytes(&replayed), "KB"),
        Line::alone("their replay: time to the end, p50", at(&times, 50) / 1e3, "ms"),
        Line::alone("their replay: CPU of the server", cpu, "ms"),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "sizes and times stay far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}
