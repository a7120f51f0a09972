use std::error::Error;
use std::io::{self, Write};
use std::{env, fs, process};

use crate::callgrind::{self, Counts};
use crate::stages::{CONTROL, STAGES};

/// Measures every stage with `events` and twice as many events, and prints what one more event costs.
pub(crate) fn print(events: usize) -> Result<(), Box<dyn Error>> {
    if events < 1_000 {
        return Err("fewer than 1000 events measure the growth of buffers".into());
    }
    // Whole bursts, so that each stage puts through exactly what it is told.
    let events = events.next_multiple_of(64);
    let folder = env::temp_dir().join(format!("omniassist-benches-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let printed = rows(events, &folder);
    fs::remove_dir_all(&folder)?;
    printed
}

fn rows(events: usize, folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "| stage | instructions per event | allocations per event | what |\n|---|---|---|---|")?;
    for stage in STAGES {
        let once = callgrind::count(stage, events, folder)?;
        let twice = callgrind::count(stage, 2 * events, folder)?;
        let instructions = per_event(events, once, twice, |counts| counts.instructions);
        let allocations = per_event(events, once, twice, |counts| counts.allocations);
        writeln!(out, "| {} | {instructions:.1} | {allocations:.4} | {} |", stage.name, stage.about)?;
        if stage.name == CONTROL.name && (allocations - 1.0).abs() > 0.001 {
            return Err("allocations are not counted rightly here: the control should show 1".into());
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn per_event(events: usize, once: Counts, twice: Counts, of: impl Fn(Counts) -> u64) -> f64 {
    (of(twice) as f64 - of(once) as f64) / events as f64
}
