//! The commits of 500 runs that write into one file.

use std::error::Error;
use std::fs;

use super::file::File;
use super::timed::commits;
use crate::relay::client::Keep;
use crate::relay::report::Line;
use crate::relay::scenario::{Bench, Streams, at, micros};
use crate::relay::wish::Wish;

/// The number of runs at the same time.
const RUNS: usize = 500;

/// The deltas of each run, 50 a second.
const DELTAS: usize = 400;

/// The number of runs that each client asks for in sequence, so that runs begin and end while others write text.
const ROUNDS: usize = 2;

pub(super) async fn measure() -> Result<Vec<Line>, Box<dyn Error>> {
    let file = File::new()?;
    let streams = Streams { deltas: DELTAS, every_us: 20_000, token_writes: true };
    let bench = Bench::start_known(streams, &["timed", &file.name()?])?;
    let before = bench.server.cpu()?;
    let answers = bench.ask(RUNS, ROUNDS, Wish::Usual, Keep { latencies: true, body: false }).await?;
    let nanos = bench.server.cpu()? - before;
    bench.end()?;
    let latencies: Vec<u64> = answers.iter().flat_map(|answer| answer.latencies.iter().copied()).collect();
    let times = fs::read_to_string(format!("{}.times", file.name()?))?;
    let mut lines = Vec::new();
    for kind in ["soft", "hard"] {
        let values = commits(&times, kind);
        for percent in [50, 99] {
            let figure = format!("{RUNS} runs: commit, {kind}, p{percent} of {}", values.len());
            lines.push(Line::alone(figure, at(&values, percent) / 1e3, "ms"));
        }
    }
    let tokens = crate::relay::scenario::as_f64(answers.iter().map(|answer| answer.deltas).sum());
    lines.push(Line::alone(format!("{RUNS} runs: CPU a token"), micros(nanos) / tokens, "µs"));
    lines.push(Line::alone(format!("{RUNS} runs: latency, p50"), at(&latencies, 50), "µs"));
    lines.push(Line::alone(format!("{RUNS} runs: latency, p99"), at(&latencies, 99) / 1e3, "ms"));
    Ok(lines)
}
