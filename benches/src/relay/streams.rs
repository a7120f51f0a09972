//! `streams`: thousands of simultaneous paced answers, with and without clients that do not read.

use std::error::Error;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::answer;
use super::client::{Connection, Keep};
use super::descriptors;
use super::options::Options;
use super::scenario::{Bench, Streams, as_f64, at, kilobytes, micros};
use super::server::Target;
use super::table::{median, say};
use super::wire::Api;
use super::wish::Wish;

/// Deltas per second of each stream.
const PACE: usize = 5;

/// Measures the named servers, or all adapters if none is named.
///
/// # Errors
///
/// Fails if an answer is incomplete or wrong.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--streams", "--seconds", "--stalled", "--repeat"])?;
    let (streams, seconds) = (options.number("--streams", 2000), options.number("--seconds", 30));
    let (stalled, repeat) = (options.number("--stalled", 200), options.number("--repeat", 3));
    let targets = Target::adapters_or(&options.names)?;
    descriptors::suffice(2 * (streams + stalled) + 100)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say(&format!(
        "\n{streams} streams of {PACE} deltas a second, {seconds} seconds, {repeat} times; Responses; medians \
         (minimum–maximum)\n"
    ))?;
    say(
        "| server | clients that do not read | complete and correct | CPU µs a delta | cores | KB a stream | p50 ms | p99 ms | longest between two deltas, ms |",
    )?;
    say("|---|---|---|---|---|---|---|---|---|")?;
    let mut wrong = Vec::new();
    for target in targets {
        // Loads without and with stalled clients alternate, so that other work on the machine affects both.
        let crowds = if stalled == 0 { vec![0] } else { vec![0, stalled] };
        let mut rows: Vec<Vec<Measured>> = crowds.iter().map(|_| Vec::new()).collect();
        for _ in 0..repeat {
            for (&stalled, row) in crowds.iter().zip(&mut rows) {
                let load = Load { target, streams, stalled, deltas: seconds * PACE };
                let mut measured = runtime.block_on(load.measure())?;
                wrong.append(&mut measured.wrong);
                row.push(measured);
            }
        }
        for (stalled, row) in crowds.iter().zip(&rows) {
            let right: usize = row.iter().map(|measured| measured.right).sum();
            let column = |figure: fn(&Measured) -> f64, digits: usize| {
                let mut values: Vec<f64> = row.iter().map(figure).collect();
                let middle = median(&mut values);
                let (least, most) = (values.first().unwrap_or(&f64::NAN), values.last().unwrap_or(&f64::NAN));
                format!("{middle:.digits$} ({least:.digits$}–{most:.digits$})")
            };
            say(&format!(
                "| {} | {stalled} | {right} of {} | {} | {} | {} | {} | {} | {} |",
                target.name(),
                repeat * streams,
                column(|measured| measured.cpu, 1),
                column(|measured| measured.cores, 2),
                column(|measured| measured.kilobytes, 1),
                column(|measured| measured.p50, 2),
                column(|measured| measured.p99, 1),
                column(|measured| measured.gap, 0),
            ))?;
        }
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} answers were wrong; the first: {first}", wrong.len()).into()),
    }
}

/// The result of one load.
struct Measured {
    right: usize,
    /// The errors of the wrong answers.
    wrong: Vec<String>,
    cpu: f64,
    cores: f64,
    kilobytes: f64,
    p50: f64,
    p99: f64,
    gap: f64,
}

struct Load {
    target: Target,
    streams: usize,
    stalled: usize,
    deltas: usize,
}

impl Load {
    async fn measure(&self) -> Result<Measured, Box<dyn Error>> {
        let streams = Streams { deltas: self.deltas, every_us: 1_000_000 / PACE as u64, token_writes: false };
        let bench = Bench::start(self.target, Api::Responses, streams)?;
        bench.ask_and_leave(64).await?;
        let mut readers = Vec::new();
        for _ in 0..self.stalled {
            let mut reader = Connection::open_narrow(bench.server.address).await?;
            reader.begin(Wish::Endless).await?;
            readers.push(reader);
        }
        // Waits until every buffer on the way to the stalled clients is full.
        bench.settle().await?;
        let (rss, cpu) = (bench.server.rss()?, bench.server.cpu()?);
        let started = std::time::Instant::now();
        let length = Duration::from_secs((self.deltas / PACE) as u64);
        let mut clients = Vec::new();
        for _ in 0..self.streams {
            let address = bench.server.address;
            clients.push(tokio::spawn(async move {
                let keep = Keep { latencies: true, body: true };
                let asked = async {
                    let mut connection = Connection::open(address).await?;
                    connection.ask(Wish::Usual, keep).await
                };
                asked.await.map_err(|error: Box<dyn Error>| error.to_string())
            }));
        }
        sleep(length / 2).await;
        let grown = bench.server.rss()?.saturating_sub(rss);
        let (mut answers, mut wrong) = (Vec::new(), Vec::new());
        for client in clients {
            match timeout(length + Duration::from_secs(60), client).await {
                Ok(answer) => match answer? {
                    Ok(answer) => answers.push(answer),
                    Err(error) => wrong.push(error),
                },
                Err(_) => wrong.push("an answer did not end".to_owned()),
            }
        }
        let (cpu, elapsed) = (bench.server.cpu()? - cpu, started.elapsed());
        // The stalled clients stay connected while the others are served.
        drop(readers);
        let mut latencies = Vec::new();
        let (mut right, mut deltas, mut gap) = (0, 0, 0);
        for mut answer in answers {
            match answer::check(self.target, Api::Responses, &answer.body, self.deltas) {
                Ok(()) => right += 1,
                Err(error) => wrong.push(error),
            }
            deltas += answer.deltas;
            gap = gap.max(answer.gap);
            latencies.append(&mut answer.latencies);
        }
        bench.end()?;
        Ok(Measured {
            right,
            wrong,
            cpu: micros(cpu) / as_f64(deltas),
            cores: micros(cpu) / 1e6 / elapsed.as_secs_f64(),
            kilobytes: kilobytes(grown) / as_f64(self.streams),
            p50: at(&latencies, 50) / 1000.0,
            p99: at(&latencies, 99) / 1000.0,
            gap: micros(gap),
        })
    }
}
