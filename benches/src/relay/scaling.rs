//! `scaling`: one total rate of deltas over a growing number of streams, and answers of ten times the length.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::answer;
use super::client::{Connection, Keep};
use super::descriptors;
use super::options::Options;
use super::scenario::{Bench, Streams, as_f64, at, kilobytes, micros};
use super::server::Target;
use super::table::say;
use super::wire::{Api, now};
use super::wish::Wish;

/// Deltas per second of all streams together.
const TOTAL: usize = 8_000;

/// Measures the named servers, or the relay and axum if none is named.
pub(super) fn print(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = Options::read(arguments, &["--seconds", "--most"])?;
    let seconds = options.number("--seconds", 10);
    let most = options.number("--most", 8000);
    let names = if options.names.is_empty() { vec!["relay", "axum"] } else { options.names };
    let targets = Target::adapters_or(&names)?;
    descriptors::suffice(2 * most + 100)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say(&format!("\n{TOTAL} deltas a second in all, {seconds} seconds; Responses\n"))?;
    say(
        "| server | streams | CPU µs a delta | ratio to the fewest streams | KB a stream | p50 ms | p99 ms | longest wait for a delta, ms, above the pace |",
    )?;
    say("|---|---|---|---|---|---|---|---|")?;
    for &target in &targets {
        let mut fewest = None;
        for streams in [1000, 2000, 4000, 8000].into_iter().filter(|streams| *streams <= most) {
            let measured = runtime.block_on(paced(target, streams, seconds))?;
            let cpu = measured.cpu;
            let ratio = cpu / *fewest.get_or_insert(cpu);
            say(&format!(
                "| {} | {streams} | {cpu:.1} | {ratio:.2} | {:.1} | {:.2} | {:.2} | {:.0} |",
                target.name(),
                measured.kilobytes,
                measured.p50,
                measured.p99,
                measured.wait
            ))?;
        }
    }
    say("\nLong answers; Responses; the median of 5\n")?;
    say("| server | answer | CPU ms | length | cost |\n|---|---|---|---|---|")?;
    for &target in &targets {
        let [short, long] = [10_000, 100_000];
        let wishes = [short, long].map(|deltas| (format!("{deltas} deltas"), Wish::Deltas(deltas), deltas));
        runtime.block_on(lengths(target, wishes))?;
        if target != Target::Relay {
            let [short, long] = [128 << 10, 1 << 20];
            let wishes = [short, long]
                .map(|bytes| (format!("{} KiB of arguments", bytes >> 10), Wish::Arguments(bytes), bytes));
            runtime.block_on(lengths(target, wishes))?;
        }
    }
    Ok(())
}

struct Measured {
    cpu: f64,
    kilobytes: f64,
    p50: f64,
    p99: f64,
    wait: f64,
}

/// The deltas that clients receive during the measurement.
#[derive(Default)]
struct Heard {
    counts: AtomicBool,
    deltas: AtomicU64,
    begun: AtomicU64,
    wait: AtomicU64,
    latencies: Mutex<Vec<u64>>,
}

async fn paced(target: Target, streams: usize, seconds: usize) -> Result<Measured, Box<dyn Error>> {
    let every_us = 1_000_000 * streams as u64 / TOTAL as u64;
    // The answers outlast the measurement.
    let bench =
        Bench::start(target, Api::Responses, Streams { deltas: 100_000, every_us, token_writes: false })?;
    bench.ask_and_leave(64).await?;
    bench.settle().await?;
    let idle = bench.server.rss()?;
    let heard = Arc::new(Heard::default());
    let mut clients = JoinSet::new();
    for number in 0..streams {
        let (address, heard) = (bench.server.address, Arc::clone(&heard));
        clients.spawn(async move { listen(address, &heard).await.map_err(|error| error.to_string()) });
        if number % 100 == 99 {
            sleep(Duration::from_millis(20)).await;
        }
    }
    let opened = Instant::now();
    while heard.begun.load(Ordering::Relaxed) < streams as u64 {
        if let Some(ended) = clients.try_join_next() {
            ended??;
        }
        if opened.elapsed() > Duration::from_secs(120) {
            return Err("not every stream began within 120 s".into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    sleep(Duration::from_secs(2)).await;
    let cpu = bench.server.cpu()?;
    heard.counts.store(true, Ordering::Relaxed);
    sleep(Duration::from_secs(seconds as u64)).await;
    heard.counts.store(false, Ordering::Relaxed);
    let cpu = bench.server.cpu()? - cpu;
    let kilobytes = kilobytes(bench.server.rss()?.saturating_sub(idle)) / as_f64(streams);
    if let Some(ended) = clients.try_join_next() {
        ended??;
    }
    clients.shutdown().await;
    bench.end()?;
    let deltas = heard.deltas.load(Ordering::Relaxed);
    let expected = (TOTAL * seconds) as u64;
    if deltas < expected - expected / 10 {
        return Err(format!("{deltas} of {expected} deltas arrived in time").into());
    }
    let latencies = heard.latencies.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Measured {
        cpu: micros(cpu) / as_f64(usize::try_from(deltas)?),
        kilobytes,
        p50: at(&latencies, 50) / 1000.0,
        p99: at(&latencies, 99) / 1000.0,
        wait: micros(heard.wait.load(Ordering::Relaxed).saturating_sub(every_us)),
    })
}

async fn listen(address: std::net::SocketAddr, heard: &Heard) -> Result<(), Box<dyn Error>> {
    let mut last = None;
    let mut connection = Connection::open(address).await?;
    let text = Wish::Usual.text();
    let said = connection.listen(&text, None, |stamp, arrived| {
        if last.is_none() {
            heard.begun.fetch_add(1, Ordering::Relaxed);
        }
        let waited = arrived.saturating_sub(last.replace(arrived).unwrap_or_else(now));
        if heard.counts.load(Ordering::Relaxed) {
            heard.deltas.fetch_add(1, Ordering::Relaxed);
            heard.wait.fetch_max(waited, Ordering::Relaxed);
            heard.latencies.lock().unwrap_or_else(PoisonError::into_inner).push(stamp.age(arrived));
        }
    });
    said.await?;
    Err("an answer ended before the measurement was over".into())
}

/// Measures the cost of two answers of different lengths. They are sent in sequence.
async fn lengths(target: Target, wishes: [(String, Wish, usize); 2]) -> Result<(), Box<dyn Error>> {
    let bench = Bench::start_with_tool(
        target,
        Api::Responses,
        Streams { deltas: 1, every_us: 0, token_writes: false },
    )?;
    let mut costs: Vec<Vec<u64>> = vec![Vec::new(); 2];
    for repetition in 0..6 {
        for ((_, wish, size), costs) in wishes.iter().zip(&mut costs) {
            let keep = Keep { latencies: false, body: true };
            let before = bench.server.cpu()?;
            let answers = bench.ask(1, 1, *wish, keep).await?;
            let cpu = bench.server.cpu()? - before;
            // The first repetition is a warm-up.
            if repetition > 0 {
                costs.push(cpu);
            }
            let answer = answers.first().ok_or("no answer")?;
            match wish {
                Wish::Arguments(_) => {
                    let input = answer::Answer::read(&answer.body)?.input;
                    if input.len() != *size {
                        return Err(format!("{} of {size} bytes of arguments arrived", input.len()).into());
                    }
                }
                _ if answer.deltas != *size => {
                    return Err(format!("{} of {size} deltas arrived", answer.deltas).into());
                }
                _ => {}
            }
        }
    }
    bench.end()?;
    let mut first = None;
    for ((name, _, size), costs) in wishes.iter().zip(&mut costs) {
        costs.sort_unstable();
        let cpu = micros(*costs.get(costs.len() / 2).ok_or("no cost")?) / 1000.0;
        let (shorter, cheaper) = *first.get_or_insert((*size, cpu));
        let (longer, dearer) = (as_f64(*size) / as_f64(shorter), cpu / cheaper);
        say(&format!("| {} | {name} | {cpu:.1} | {longer:.0} × | {dearer:.1} × |", target.name()))?;
    }
    Ok(())
}
