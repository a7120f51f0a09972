//! The processor time of stages, measured side by side in one process.
//!
//! The processor time of a thread does not include other work on the machine. No stage waits or has a second thread.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use crate::stages::{CONVERSATION, STAGES, Stage};

/// The number of times that each stage is timed. The stages alternate, so that other work affects them equally.
const ROUNDS: usize = 9;

/// The number of events of the smallest stages. Stages whose events are more work have fewer.
const TOKENS: usize = 50_000;

/// Prints the time per event of each named stage, or of every stage if none is named.
pub(crate) fn print(wanted: &[&str]) -> Result<(), Box<dyn Error>> {
    let stages: Vec<Stage> = if wanted.is_empty() {
        STAGES.to_vec()
    } else {
        let named = |name: &&str| Stage::named(name).ok_or_else(|| format!("there is no stage {name}"));
        wanted.iter().map(named).collect::<Result<_, _>>()?
    };
    table(&stages, &rounds(&stages)?)
}

/// Prints the time of a long conversation on its way to the provider, and the ratios to the times of serde_json.
pub(crate) fn long_conversation() -> Result<(), Box<dyn Error>> {
    let times = rounds(&CONVERSATION)?;
    table(&CONVERSATION, &times)?;
    let Some((ours, theirs)) = times.split_first() else { return Ok(()) };
    for (stage, theirs) in CONVERSATION.iter().skip(1).zip(theirs) {
        let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        let [least, median, most] = spread(ratios);
        writeln!(io::stdout(), "\n{median:.2} × {} (from {least:.2} to {most:.2})", stage.name)?;
    }
    Ok(())
}

fn table(stages: &[Stage], times: &[Vec<f64>]) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "| stage | µs per event | least | most | what |\n|---|---|---|---|---|")?;
    for (stage, times) in stages.iter().zip(times) {
        let [least, median, most] = spread(times.clone());
        writeln!(out, "| {} | {median:.3} | {least:.3} | {most:.3} | {} |", stage.name, stage.about)?;
    }
    Ok(())
}

/// Returns the microseconds per event of each stage, in each round.
fn rounds(stages: &[Stage]) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let mut times = vec![Vec::with_capacity(ROUNDS); stages.len()];
    for _ in 0..ROUNDS {
        for (stage, times) in stages.iter().zip(&mut times) {
            times.push(per_event(*stage)?);
        }
    }
    Ok(times)
}

/// Returns the time of one more event. It is measured as the difference between N and 2N events, so that the time to
/// make the input cancels out.
#[expect(clippy::cast_precision_loss, reason = "so many events are never measured")]
fn per_event(stage: Stage) -> Result<f64, Box<dyn Error>> {
    let events = stage.size.events(TOKENS);
    let timed = |events| {
        let began = processor_time();
        stage.run(events).map(|()| (processor_time() - began).as_secs_f64())
    };
    let once = timed(events)?;
    Ok((timed(2 * events)? - once) * 1e6 / events as f64)
}

/// Returns the processor time of this thread.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns the elapsed time, since this platform has no clock for the processor time.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}

/// Returns the minimum, the median and the maximum.
fn spread(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    let at = |index: usize| times.get(index).copied().unwrap_or(f64::NAN);
    [at(0), at(times.len() / 2), at(times.len().saturating_sub(1))]
}
