//! Whole servers with many live runs, and what new posts meet then.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::database::Database;
use crate::relay::client::Connection;
use crate::relay::descriptors;
use crate::relay::report::Line;
use crate::relay::scenario::{Bench, Streams, as_f64, at, micros};
use crate::relay::store::commit_times;
use crate::relay::wire::now;
use crate::relay::wish::Wish;

/// The numbers of live runs, and the tokens of each in a second. Two cores do not carry 2,000 runs of 50 without a store
/// either.
const LOADS: [(usize, u64); 4] = [(100, 50), (500, 50), (2000, 4), (8000, 1)];

/// The time between two posts, when the runs begin and while they are measured.
const POSTS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(250)];

/// The longest time from the last post to the beginning of all runs.
const BEGIN: Duration = Duration::from_secs(60);

/// The time after which a client whose post was refused sends it again.
const AGAIN: Duration = Duration::from_secs(2);

/// The answers that clients receive while the runs are measured.
#[derive(Default)]
struct Heard {
    /// `true` during the measurement.
    counts: bool,
    begun: usize,
    latencies: Vec<u64>,
    /// The microseconds from posts to first tokens.
    firsts: Vec<u64>,
    /// The errors of answers that were refused or ended early, with their numbers.
    said: BTreeMap<String, usize>,
}

/// The figures of one server.
struct Live {
    cpu: f64,
    cores: f64,
    heard: Heard,
}

/// Measures the loads, each without and with a store.
pub(super) async fn measure(database: &Database, seconds: u64) -> Result<Vec<Line>, Box<dyn Error>> {
    descriptors::suffice(2 * 8000 + 1000)?;
    let mut lines = Vec::new();
    for (runs, rate) in LOADS {
        let what = format!("{runs} runs of {rate} tokens a second");
        let streams = Streams { deltas: 100_000, every_us: 1_000_000 / rate, token_writes: true };
        let bench = Bench::start_known(streams, &["known"])?;
        let (without, ()) = live(&bench, runs, seconds, || Ok(()), |()| Ok(())).await?;
        bench.end()?;
        let (url, times) = (database.url(), database.times()?);
        let bench = Bench::start_known(streams, &["postgres", &url, &times])?;
        let before = || Ok((fs::metadata(&times)?.len(), database.work()?));
        let (with, (rates, commits)) = live(&bench, runs, seconds, before, |(written, work)| {
            let commits = fs::read(&times)?.split_off(usize::try_from(written)?);
            Ok((database.since(&work)?, String::from_utf8(commits)?))
        })
        .await?;
        bench.end()?;
        let due = as_f64(runs) * f64::from(u32::try_from(rate * seconds)?);
        let mut compare = |figure: &str, unit, value: &dyn Fn(&Live) -> f64| {
            let line = Line::compared(format!("{what}: {figure}"), value(&without), value(&with), unit);
            lines.push(if figure == "CPU a token" { line.at_most(1.0) } else { line });
        };
        compare("CPU a token", "µs", &|live| live.cpu);
        compare("the server's cores", "", &|live| live.cores);
        compare("tokens that arrived, of those that were due", "×", &|live| {
            as_f64(live.heard.latencies.len()) / due
        });
        compare("latency of a token, p50", "ms", &|live| at(&live.heard.latencies, 50) / 1e3);
        compare("latency of a token, p99", "ms", &|live| at(&live.heard.latencies, 99) / 1e3);
        compare("first token of a new answer, p50", "ms", &|live| at(&live.heard.firsts, 50) / 1e3);
        compare("first token of a new answer, p99", "ms", &|live| at(&live.heard.firsts, 99) / 1e3);
        for kind in ["soft", "hard"] {
            let values = commit_times(&commits, kind);
            let rate = as_f64(values.len()) / rates.seconds;
            lines.push(Line::alone(format!("{what}: {kind} commits a second"), rate, ""));
            for percent in [50, 99] {
                let figure = format!("{what}: {kind} commit, p{percent}");
                lines.push(Line::alone(figure, at(&values, percent) / 1e3, "ms"));
            }
        }
        lines.extend(rates.lines(&what));
        for (which, live) in [("without a store", without), ("with PostgreSQL", with)] {
            for (said, number) in live.heard.said {
                let figure = format!("{what}, {which}: answers that ended with `{said}`");
                lines.push(Line::alone(figure, as_f64(number), ""));
            }
        }
    }
    Ok(lines)
}

/// Measures a server while it has this many live runs and gets new posts. The functions are called at the beginning and at
/// the end.
async fn live<B, E>(
    bench: &Bench,
    runs: usize,
    seconds: u64,
    begin: impl Fn() -> Result<B, Box<dyn Error>>,
    end: impl Fn(B) -> Result<E, Box<dyn Error>>,
) -> Result<(Live, E), Box<dyn Error>> {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let mut clients = JoinSet::new();
    let address = bench.server.address;
    for _ in 0..runs {
        clients.spawn(listen(address, Arc::clone(&heard)));
        sleep(POSTS[0]).await;
    }
    let began = Instant::now();
    while with(&heard, |heard| heard.begun) < runs && began.elapsed() < BEGIN {
        sleep(Duration::from_millis(50)).await;
    }
    sleep(Duration::from_secs(2)).await;
    let (before, cpu, began) = (begin()?, bench.server.cpu()?, Instant::now());
    with(&heard, |heard| heard.counts = true);
    while began.elapsed().as_secs() < seconds {
        clients.spawn(listen(address, Arc::clone(&heard)));
        sleep(POSTS[1]).await;
    }
    with(&heard, |heard| heard.counts = false);
    let (nanos, elapsed, after) = (bench.server.cpu()? - cpu, began.elapsed(), end(before)?);
    clients.shutdown().await;
    let heard = with(&heard, std::mem::take);
    let cpu = micros(nanos) / as_f64(heard.latencies.len());
    Ok((Live { cpu, cores: micros(nanos) / 1e6 / elapsed.as_secs_f64(), heard }, after))
}

/// Posts until the answer begins, and reads it until it ends, which none does as long as the server can go on.
async fn listen(address: SocketAddr, heard: Arc<Mutex<Heard>>) {
    let (posted, counts) = (now(), with(&heard, |heard| heard.counts));
    let mut is_first = true;
    while is_first {
        let mut body = Vec::new();
        let ended = async {
            let mut connection = Connection::open(address).await?;
            let text = Wish::Usual.text();
            let heard = connection.listen(&text, Some(&mut body), |stamp, arrived| {
                with(&heard, |heard| {
                    if std::mem::take(&mut is_first) {
                        heard.begun += 1;
                        if counts {
                            heard.firsts.push(arrived.saturating_sub(posted));
                        }
                    }
                    if heard.counts {
                        heard.latencies.push(stamp.age(arrived));
                    }
                });
            });
            heard.await
        };
        let refusal = ended.await.err().map(|error: Box<dyn Error>| error.to_string());
        let said = said(&refusal.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned()));
        with(&heard, |heard| *heard.said.entry(said).or_default() += 1);
        sleep(AGAIN).await;
    }
}

/// Returns the text of the error in an answer, or its last line.
fn said(answer: &str) -> String {
    let field = |name: &str| Some(answer.rsplit_once(name)?.1.split('"').next()?.to_owned());
    field(r#""errorText":""#)
        .or_else(|| Some(format!("{} {}", answer.lines().next()?, field(r#""code":""#)?)))
        .unwrap_or_else(|| answer.lines().next_back().unwrap_or_default().to_owned())
}

fn with<T>(heard: &Mutex<Heard>, change: impl FnOnce(&mut Heard) -> T) -> T {
    change(&mut heard.lock().unwrap_or_else(PoisonError::into_inner))
}
