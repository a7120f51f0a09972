//! `streams`: thousands of paced answers at once, and the same beside clients that do not read.

use std::error::Error;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::answer;
use super::client::{Connection, Keep};
use super::descriptors;
use super::options::Options;
use super::scenario::{Bench, Streams, as_f64, at, micros};
use super::server::Target;
use super::table::say;
use super::wire::Api;
use super::wish::Wish;

/// Deltas a second of each stream.
const PACE: usize = 5;

/// Measures the servers that are named.
///
/// # Errors
///
/// When an answer is not whole, or wrong.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--streams", "--seconds", "--stalled"])?;
    let (streams, seconds) = (options.number("--streams", 2000), options.number("--seconds", 30));
    let stalled = options.number("--stalled", 200);
    let targets = Target::adapters_or(&options.names)?;
    descriptors::suffice(2 * (streams + stalled) + 100)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say(&format!("\n{streams} streams of {PACE} deltas a second, {seconds} seconds; Responses\n"))?;
    say(
        "| server | clients that do not read | whole and right | CPU µs a delta | cores | KB a stream | p50 ms | p99 ms | longest between two deltas, ms |",
    )?;
    say("|---|---|---|---|---|---|---|---|---|")?;
    let mut wrong = Vec::new();
    for target in targets {
        for stalled in [0, stalled].into_iter().take(1 + stalled.min(1)) {
            let load = Load { target, streams, stalled, deltas: seconds * PACE };
            wrong.extend(runtime.block_on(load.row())?);
        }
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} answers were wrong; the first: {first}", wrong.len()).into()),
    }
}

struct Load {
    target: Target,
    streams: usize,
    stalled: usize,
    deltas: usize,
}

impl Load {
    /// Prints a row, and says what was wrong.
    async fn row(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let streams = Streams { deltas: self.deltas, every_us: 1_000_000 / PACE as u64 };
        let bench = Bench::start(self.target, Api::Responses, streams)?;
        bench.ask_and_leave(64).await?;
        let mut readers = Vec::new();
        for _ in 0..self.stalled {
            let mut reader = Connection::open_narrow(bench.server.address).await?;
            reader.begin(Wish::Endless).await?;
            readers.push(reader);
        }
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
        // They stand still for as long as the others are served.
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
        say(&format!(
            "| {} | {} | {right} of {} | {:.1} | {:.2} | {:.1} | {:.2} | {:.2} | {:.0} |",
            self.target.name(),
            self.stalled,
            self.streams,
            micros(cpu) / as_f64(deltas),
            micros(cpu) / 1e6 / elapsed.as_secs_f64(),
            super::scenario::kilobytes(grown) / as_f64(self.streams),
            at(&latencies, 50) / 1000.0,
            at(&latencies, 99) / 1000.0,
            micros(gap)
        ))?;
        bench.end()?;
        Ok(wrong)
    }
}
