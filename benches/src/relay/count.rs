//! `count`: the instructions of a whole server process for each delta, and for a long conversation.

use std::error::Error;
use std::path::Path;
use std::{env, fs, process};

use omniassist_server::Principal;

use super::client::{Connection, Keep};
use super::scenario::{Bench, Streams, as_f64};
use super::server::Target;
use super::table::say;
use super::wire::Api;
use super::wish::Wish;
use crate::callgrind::{self, Counts};
use crate::stages::{conversation, seals};

/// The number of conversations that are posted in sequence. The first ones also fill pools and buffers.
const POSTS: usize = 2;

/// The loads by their name: the microseconds between two deltas of a stream, the deltas, and the streams.
///
/// Callgrind makes a server many times slower. The paced deltas are so few that each arrives alone nevertheless: a server
/// that falls behind reads several at a time, which costs less.
const LOADS: [(&str, u64, usize, usize); 2] = [("full", 0, 2000, 8), ("paced", 20_000, 400, 10)];

/// Counts the named loads, or all if none is named: `full` speed, `paced`, and a long `conversation`.
pub(super) fn print(wanted: &[&str]) -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("omniassist-count-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let counted = tables(wanted, &folder);
    fs::remove_dir_all(&folder)?;
    counted
}

fn tables(wanted: &[&str], folder: &Path) -> Result<(), Box<dyn Error>> {
    let is_wanted = |name| wanted.is_empty() || wanted.contains(&name);
    for (speed, every_us, deltas, connections) in LOADS {
        if !is_wanted(speed) {
            continue;
        }
        say(&format!("\n| {speed} | instructions a delta | allocations a delta |\n|---|---|---|"))?;
        for target in Target::ALL {
            row(
                target,
                deltas * connections,
                folder,
                |times| Streams { deltas: times * deltas, every_us, token_writes: false },
                async |bench, times| {
                    let answers = bench.ask(connections, 1, Wish::Usual, Keep::default()).await?;
                    match answers.iter().find(|answer| answer.deltas != times * deltas) {
                        Some(answer) => {
                            Err(format!("{} of {} deltas arrived", answer.deltas, times * deltas).into())
                        }
                        None => Ok(()),
                    }
                },
            )?;
        }
    }
    if is_wanted("conversation") {
        let body = conversation::posted(&seals::keys()?, &Principal::anonymous())?;
        say("\n| 1,000 messages | instructions a post | allocations a post |\n|---|---|---|")?;
        for target in Target::ALL {
            let streams = Streams { deltas: 1, every_us: 0, token_writes: false };
            row(
                target,
                POSTS,
                folder,
                |_| streams,
                async |bench, times| {
                    let mut connection = Connection::open(bench.server.address).await?;
                    for _ in 0..times * POSTS {
                        connection.ask_body(&body).await?;
                    }
                    Ok(())
                },
            )?;
        }
    }
    Ok(())
}

/// Counts a server's work on `units` and on twice as many, and prints the difference per unit.
#[expect(clippy::needless_pass_by_value, reason = "closures are written where they are passed")]
fn row(
    target: Target,
    units: usize,
    folder: &Path,
    streams: impl Fn(usize) -> Streams,
    work: impl AsyncFn(&Bench, usize) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let count = |times| -> Result<Counts, Box<dyn Error>> {
        let report = folder.join(target.name());
        let bench =
            Bench::start_counted(target, Api::Responses, streams(times), &report.display().to_string())?;
        runtime.block_on(work(&bench, times))?;
        bench.end()?;
        callgrind::read_file(&report)
    };
    let (once, twice) = (count(1)?, count(2)?);
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    let per = |of: fn(&Counts) -> u64| (of(&twice) as f64 - of(&once) as f64) / as_f64(units);
    let (instructions, allocations) = (per(|counts| counts.instructions), per(|counts| counts.allocations));
    Ok(say(&format!("| {} | {instructions:.0} | {allocations:.3} |", target.name()))?)
}
