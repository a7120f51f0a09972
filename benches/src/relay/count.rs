//! `count`: instructions of a whole server process for each delta.

use std::error::Error;
use std::{env, fs, process};

use super::client::Keep;
use super::scenario::{Bench, Streams, as_f64};
use super::server::Target;
use super::table::say;
use super::wire::Api;
use super::wish::Wish;
use crate::callgrind;

/// Counts at full speed and paced, or what is named.
pub(super) fn print(wanted: &[&str]) -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("omniassist-count-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let counted = rows(wanted, &folder);
    fs::remove_dir_all(&folder)?;
    counted
}

fn rows(wanted: &[&str], folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    say("| server | speed | instructions a delta | allocations a delta |\n|---|---|---|---|")?;
    for (speed, every_us, deltas, connections) in [("full", 0, 2000, 8), ("paced", 20_000, 100, 40)] {
        if !wanted.is_empty() && !wanted.contains(&speed) {
            continue;
        }
        for target in Target::ALL {
            let mut counts = Vec::new();
            for deltas in [deltas, 2 * deltas] {
                let report = folder.join(format!("{}-{speed}-{deltas}", target.name()));
                let path = report.display().to_string();
                let bench = Bench::start_counted(
                    target,
                    Api::Responses,
                    Streams { deltas, every_us, token_writes: false },
                    &path,
                )?;
                runtime.block_on(async {
                    let answers = bench.ask(connections, 1, Wish::Usual, Keep::default()).await?;
                    match answers.iter().find(|answer| answer.deltas != deltas) {
                        Some(answer) => Err(format!("{} deltas came of {deltas}", answer.deltas).into()),
                        None => Ok::<_, Box<dyn Error>>(()),
                    }
                })?;
                bench.end()?;
                counts.push(callgrind::read_file(&report)?);
            }
            let [once, twice] = counts.as_slice() else { return Err("not two counts".into()) };
            let more = as_f64(deltas * connections);
            #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
            let per = |of: fn(&callgrind::Counts) -> u64| (of(twice) as f64 - of(once) as f64) / more;
            let (instructions, allocations) =
                (per(|counts| counts.instructions), per(|counts| counts.allocations));
            say(&format!("| {} | {speed} | {instructions:.0} | {allocations:.3} |", target.name()))?;
        }
    }
    Ok(())
}
