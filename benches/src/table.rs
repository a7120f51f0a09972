use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::{env, fs, process};

use crate::callgrind::{self, Counts};
use crate::stages::{CONTROL, STAGES, Stage};

/// What one more event costs.
struct Row {
    instructions: f64,
    allocations: f64,
}

/// Measures every stage with so many events (fewer where each is more work) and twice as many, and prints what one more
/// event costs.
pub(crate) fn print(tokens: usize) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "| stage | instructions per event | allocations per event | what |\n|---|---|---|---|")?;
    each(tokens, |stage, row| {
        let Row { instructions, allocations } = row;
        writeln!(out, "| {} | {instructions:.1} | {allocations:.4} | {} |", stage.name, stage.about)
    })
}

/// The same for a program to read: a line for each stage, with its name and both figures.
pub(crate) fn counts(tokens: usize) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    each(tokens, |stage, row| writeln!(out, "{} {:.1} {:.3}", stage.name, row.instructions, row.allocations))
}

fn each(tokens: usize, mut print: impl FnMut(Stage, Row) -> io::Result<()>) -> Result<(), Box<dyn Error>> {
    if tokens < 1_000 {
        return Err("fewer than 1000 events measure the growth of buffers".into());
    }
    let folder = env::temp_dir().join(format!("omniassist-benches-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let printed = STAGES.iter().try_for_each(|stage| Ok(print(*stage, row(*stage, tokens, &folder)?)?));
    fs::remove_dir_all(&folder)?;
    printed
}

fn row(stage: Stage, tokens: usize, folder: &Path) -> Result<Row, Box<dyn Error>> {
    let events = stage.size.events(tokens);
    let once = callgrind::count(stage, events, folder)?;
    let twice = callgrind::count(stage, 2 * events, folder)?;
    let row = Row {
        instructions: per_event(events, once, twice, |counts| counts.instructions),
        allocations: per_event(events, once, twice, |counts| counts.allocations),
    };
    if stage.name == CONTROL.name && (row.allocations - 1.0).abs() > 0.001 {
        return Err("allocations are not counted rightly here: the control should show 1".into());
    }
    Ok(row)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn per_event(events: usize, once: Counts, twice: Counts, of: impl Fn(Counts) -> u64) -> f64 {
    (of(twice) as f64 - of(once) as f64) / events as f64
}
