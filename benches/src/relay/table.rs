//! `relay`: tables of the cost of whole servers.

use std::error::Error;
use std::io::{Write, stdout};

use super::process;
use super::scenario::{Bench, Cost, Streams, as_f64, kilobytes};
use super::server::Target;
use super::wire::Api;

/// The measurements, which all run if none is named.
const ALL: [&str; 4] = ["full", "paced", "requests", "memory"];

/// The settings of the measurements.
struct Setup {
    repeat: usize,
    /// `true` if the provider writes each delta separately.
    token_writes: bool,
    /// `true` if the server runs alone on the first core, and all other processes run on the other cores.
    pin: bool,
    /// The measured servers, the relay first.
    targets: Vec<Target>,
}

/// Runs the named measurements and prints a table for each.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut setup = Setup { repeat: 5, token_writes: false, pin: false, targets: vec![Target::Relay] };
    let mut wanted = Vec::new();
    let mut rest = arguments;
    while let Some((argument, behind)) = rest.split_first() {
        rest = behind;
        match (*argument, behind) {
            ("--repeat", [number, behind @ ..]) => (setup.repeat, rest) = (number.parse()?, behind),
            ("--writes", ["token", behind @ ..]) => (setup.token_writes, rest) = (true, behind),
            ("--pin", _) => setup.pin = true,
            (name, _) if ALL.contains(&name) => wanted.push(name),
            (name, _) => match Target::named(name) {
                Some(Target::Relay) => {}
                Some(target) => setup.targets.push(target),
                None => return Err(format!("{name}: there are {ALL:?} and the names of servers").into()),
            },
        }
    }
    if let [Target::Relay] = *setup.targets {
        setup.targets = Target::ALL.to_vec();
    }
    if setup.pin {
        process::leave_first_core()?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for name in ALL.iter().filter(|name| wanted.is_empty() || wanted.contains(name)) {
        runtime.block_on(async {
            match *name {
                "full" => full(&setup).await,
                "paced" => paced(&setup).await,
                "requests" => requests(&setup).await,
                _ => memory(&setup).await,
            }
        })?;
    }
    Ok(())
}

/// One figure for each server and repetition.
struct Column {
    /// The values by repetition, then by server.
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

    /// Returns the ratio to the relay in the same repetition: the median, the minimum and the maximum.
    fn ratio(&self, target: usize) -> String {
        let mut ratios: Vec<f64> =
            self.values.iter().filter_map(|round| Some(round.get(target)? / round.first()?)).collect();
        let middle = median(&mut ratios);
        let (least, most) = (ratios.first().unwrap_or(&f64::NAN), ratios.last().unwrap_or(&f64::NAN));
        format!("{middle:.2} ({least:.2}–{most:.2})")
    }
}

/// Sorts the values and returns the middle one.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measures every server once in each repetition, so that a ratio compares measurements of nearly the same time.
async fn rounds(
    setup: &Setup,
    api: Api,
    streams: Streams,
    connections: usize,
    requests: usize,
) -> Result<Vec<Vec<Cost>>, Box<dyn Error>> {
    let mut rounds = Vec::new();
    let start = if setup.pin { Bench::start_pinned } else { Bench::start };
    for _ in 0..setup.repeat {
        let mut round = Vec::new();
        for target in &setup.targets {
            let bench = start(*target, api, streams)?;
            round.push(bench.cost(connections, requests, streams.deltas).await?);
            bench.end()?;
        }
        rounds.push(round);
    }
    Ok(rounds)
}

async fn full(setup: &Setup) -> Result<(), Box<dyn Error>> {
    let writes = if setup.token_writes { "a write for each delta" } else { "one write for an answer" };
    say(&format!(
        "\nFull speed: 64 streams of 1000 deltas, three times each, {writes}; median of the repetitions\n"
    ))?;
    say("| server | API | CPU µs a delta | of the relay's (least–most) |\n|---|---|---|---|")?;
    for api in Api::ALL {
        let streams = Streams { deltas: 1000, every_us: 0, token_writes: setup.token_writes };
        let cpu = Column::of(&rounds(setup, api, streams, 64, 3).await?, |cost| cost.cpu);
        for (index, target) in setup.targets.iter().enumerate() {
            let (name, api) = (target.name(), api.name());
            say(&format!("| {name} | {api} | {:.2} | {} |", cpu.median(index), cpu.ratio(index)))?;
        }
    }
    Ok(())
}

async fn paced(setup: &Setup) -> Result<(), Box<dyn Error>> {
    say("\nPaced: streams of 50 deltas a second, 4 seconds; Responses\n")?;
    say(
        "| streams | server | CPU µs a delta | of the relay's | p50 µs | of the relay's | p99 µs |\n|---|---|---|---|---|---|---|",
    )?;
    for connections in [1, 100, 500] {
        let streams = Streams { deltas: 200, every_us: 20_000, token_writes: true };
        let costs = rounds(setup, Api::Responses, streams, connections, 1).await?;
        let cpu = Column::of(&costs, |cost| cost.cpu);
        let p50 = Column::of(&costs, |cost| cost.p50);
        let p99 = Column::of(&costs, |cost| cost.p99);
        for (index, target) in setup.targets.iter().enumerate() {
            say(&format!(
                "| {connections} | {} | {:.2} | {} | {:.0} | {} | {:.0} |",
                target.name(),
                cpu.median(index),
                cpu.ratio(index),
                p50.median(index),
                p50.ratio(index),
                p99.median(index)
            ))?;
        }
    }
    Ok(())
}

async fn requests(setup: &Setup) -> Result<(), Box<dyn Error>> {
    say("\nShort requests: 500 from each connection, 3 deltas in an answer; Responses\n")?;
    say(
        "| connections | server | CPU µs a request | of the relay's | first text, p50 µs | of the relay's |\n|---|---|---|---|---|---|",
    )?;
    let streams = Streams { deltas: 3, every_us: 0, token_writes: setup.token_writes };
    // One connection measures the latency of a request without a queue. Four connections keep the server busy.
    for connections in [1, 4] {
        let costs = rounds(setup, Api::Responses, streams, connections, 500).await?;
        let cpu = Column::of(&costs, |cost| cost.cpu_per_request);
        let first = Column::of(&costs, |cost| cost.first);
        for (index, target) in setup.targets.iter().enumerate() {
            say(&format!(
                "| {connections} | {} | {:.0} | {} | {:.0} | {} |",
                target.name(),
                cpu.median(index),
                cpu.ratio(index),
                first.median(index),
                first.ratio(index)
            ))?;
        }
    }
    Ok(())
}

async fn memory(setup: &Setup) -> Result<(), Box<dyn Error>> {
    const STREAMS: [usize; 3] = [1000, 4000, 8000];
    say("\nMemory: open streams that say one delta a minute; KB for each, above what the idle server has\n")?;
    let streams = Streams { deltas: 1000, every_us: 60_000_000, token_writes: true };
    say("| server | 1000 streams | 4000 | 8000 |\n|---|---|---|---|")?;
    for target in &setup.targets {
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); STREAMS.len()];
        for _ in 0..setup.repeat.min(3) {
            let bench = Bench::start(*target, Api::Responses, streams)?;
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
