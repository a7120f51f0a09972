//! `relay`: the tables of whole servers.

use std::error::Error;
use std::io::{Write, stdout};

use super::scenario::{Bench, Cost, Streams, as_f64, kilobytes};
use super::server::Target;
use super::wire::Api;

/// What is measured when nothing is named.
const ALL: [&str; 4] = ["full", "paced", "requests", "memory"];

/// Measures what is named, and prints a table of each.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let (wanted, repeat) = match arguments {
        [wanted @ .., "--repeat", number] => (wanted, number.parse()?),
        wanted => (wanted, 5),
    };
    if let Some(unknown) = wanted.iter().find(|name| !ALL.contains(name)) {
        return Err(format!("{unknown}: there are {ALL:?}").into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for name in ALL.iter().filter(|name| wanted.is_empty() || wanted.contains(name)) {
        runtime.block_on(async {
            match *name {
                "full" => full(repeat).await,
                "paced" => paced(repeat).await,
                "requests" => requests(repeat).await,
                _ => memory(repeat).await,
            }
        })?;
    }
    Ok(())
}

/// A figure of each server in each repetition.
struct Column {
    /// By repetition, then by server.
    values: Vec<Vec<f64>>,
}

impl Column {
    fn of(costs: &[Vec<Cost>], figure: impl Fn(&Cost) -> f64) -> Self {
        Self { values: costs.iter().map(|round| round.iter().map(&figure).collect()).collect() }
    }

    fn median(&self, target: usize) -> f64 {
        let mut values: Vec<f64> =
            self.values.iter().filter_map(|round| round.get(target)).copied().collect();
        median(&mut values)
    }

    /// How much of the relay's in the same repetition: the median, the least and the most.
    fn ratio(&self, target: usize) -> String {
        let mut ratios: Vec<f64> =
            self.values.iter().filter_map(|round| Some(round.get(target)? / round.first()?)).collect();
        let middle = median(&mut ratios);
        let (least, most) = (ratios.first().unwrap_or(&f64::NAN), ratios.last().unwrap_or(&f64::NAN));
        format!("{middle:.2} ({least:.2}–{most:.2})")
    }
}

/// The middle of the values, which are sorted for it.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Every server once in each repetition, so that a ratio compares what ran at nearly the same time.
async fn rounds(
    repeat: usize,
    api: Api,
    streams: Streams,
    connections: usize,
    requests: usize,
) -> Result<Vec<Vec<Cost>>, Box<dyn Error>> {
    let mut rounds = Vec::new();
    for _ in 0..repeat {
        let mut round = Vec::new();
        for target in Target::ALL {
            let bench = Bench::start(target, api, streams)?;
            round.push(bench.cost(connections, requests, streams.deltas).await?);
            bench.end()?;
        }
        rounds.push(round);
    }
    Ok(rounds)
}

async fn full(repeat: usize) -> Result<(), Box<dyn Error>> {
    say("\nFull speed: 64 streams of 1000 deltas, three times each; median of the repetitions\n")?;
    say("| server | API | CPU µs a delta | of the relay's (least–most) |\n|---|---|---|---|")?;
    for api in Api::ALL {
        let streams = Streams { deltas: 1000, every_us: 0 };
        let cpu = Column::of(&rounds(repeat, api, streams, 64, 3).await?, |cost| cost.cpu);
        for (index, target) in Target::ALL.iter().enumerate() {
            let (name, api) = (target.name(), api.name());
            say(&format!("| {name} | {api} | {:.2} | {} |", cpu.median(index), cpu.ratio(index)))?;
        }
    }
    Ok(())
}

async fn paced(repeat: usize) -> Result<(), Box<dyn Error>> {
    say("\nPaced: 500 streams of 50 deltas a second, 4 seconds; Responses\n")?;
    say(
        "| server | CPU µs a delta | of the relay's | p50 µs | of the relay's | p99 µs |\n|---|---|---|---|---|---|",
    )?;
    let streams = Streams { deltas: 200, every_us: 20_000 };
    let costs = rounds(repeat, Api::Responses, streams, 500, 1).await?;
    let cpu = Column::of(&costs, |cost| cost.cpu);
    let p50 = Column::of(&costs, |cost| cost.p50);
    let p99 = Column::of(&costs, |cost| cost.p99);
    for (index, target) in Target::ALL.iter().enumerate() {
        say(&format!(
            "| {} | {:.2} | {} | {:.0} | {} | {:.0} |",
            target.name(),
            cpu.median(index),
            cpu.ratio(index),
            p50.median(index),
            p50.ratio(index),
            p99.median(index)
        ))?;
    }
    Ok(())
}

async fn requests(repeat: usize) -> Result<(), Box<dyn Error>> {
    say("\nShort requests: 4 connections, 500 requests each, 3 deltas in an answer; Responses\n")?;
    say(
        "| server | CPU µs a request | of the relay's | first text, p50 µs | of the relay's |\n|---|---|---|---|---|",
    )?;
    let costs = rounds(repeat, Api::Responses, Streams { deltas: 3, every_us: 0 }, 4, 500).await?;
    let cpu = Column::of(&costs, |cost| cost.cpu_per_request);
    let first = Column::of(&costs, |cost| cost.first);
    for (index, target) in Target::ALL.iter().enumerate() {
        say(&format!(
            "| {} | {:.0} | {} | {:.0} | {} |",
            target.name(),
            cpu.median(index),
            cpu.ratio(index),
            first.median(index),
            first.ratio(index)
        ))?;
    }
    Ok(())
}

async fn memory(repeat: usize) -> Result<(), Box<dyn Error>> {
    const STREAMS: [usize; 3] = [1000, 4000, 8000];
    say("\nMemory: open streams that say one delta a minute; KB for each, above what the idle server has\n")?;
    say("| server | 1000 streams | 4000 | 8000 |\n|---|---|---|---|")?;
    for target in Target::ALL {
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); STREAMS.len()];
        for _ in 0..repeat.min(3) {
            let bench = Bench::start(target, Api::Responses, Streams { deltas: 1000, every_us: 60_000_000 })?;
            let points = bench.memory(&STREAMS).await?;
            let idle = points.first().map_or(0, |(_, bytes)| *bytes);
            for ((streams, bytes), column) in points.iter().skip(1).zip(&mut columns) {
                column.push(kilobytes(bytes.saturating_sub(idle)) / as_f64(*streams));
            }
            bench.end()?;
        }
        let figures: Vec<String> =
            columns.iter_mut().map(|column| format!("{:.1}", median(column))).collect();
        say(&format!("| {} | {} |", target.name(), figures.join(" | ")))?;
    }
    Ok(())
}

pub(super) fn say(line: &str) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
