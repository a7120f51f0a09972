use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::{env, fs, process, thread};

use crate::callgrind::{self, Counts};
use crate::stages::{CONTROL, STAGES, Stage};

/// The cost of one more event.
struct Row {
    instructions: f64,
    allocations: f64,
}

/// Measures every stage and prints the cost of one more event. A stage of tokens runs with `tokens` events and with
/// twice as many. Stages whose events are more work run with fewer.
pub(crate) fn print(tokens: usize) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "| stage | instructions per event | allocations per event | what |\n|---|---|---|---|")?;
    each(tokens, |stage, row| {
        let Row { instructions, allocations } = row;
        writeln!(out, "| {} | {instructions:.1} | {allocations:.4} | {} |", stage.name, stage.about)
    })
}

/// Prints a line for each stage for programs: its name and both figures.
pub(crate) fn counts(tokens: usize) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    each(tokens, |stage, row| writeln!(out, "{} {:.1} {:.3}", stage.name, row.instructions, row.allocations))
}

/// Measures all stages and passes their rows on in order. Each processor counts one stage at a time. Counts do not
/// depend on what runs at the same time.
fn each(tokens: usize, mut print: impl FnMut(Stage, Row) -> io::Result<()>) -> Result<(), Box<dyn Error>> {
    if tokens < 1_000 {
        return Err(
            "at least 1000 events are needed: with fewer, the growth of buffers distorts the figures".into(),
        );
    }
    let folder = env::temp_dir().join(format!("omniassist-benches-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let (next, workers) = (AtomicUsize::new(0), thread::available_parallelism().map_or(1, usize::from));
    let (sender, rows) = mpsc::channel();
    let printed = thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, folder) = (sender.clone(), &next, &folder);
            scope.spawn(move || {
                while let Some((index, stage)) = take(next) {
                    // The receiver is dropped after the first failure.
                    if sender
                        .send((index, row(*stage, tokens, folder).map_err(|error| error.to_string())))
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut stages = STAGES.iter();
        in_order(rows, |row| match stages.next() {
            Some(stage) => Ok(print(*stage, row?)?),
            None => Ok(()),
        })
    });
    fs::remove_dir_all(&folder)?;
    printed
}

/// Returns the next stage that no thread has taken.
fn take(next: &AtomicUsize) -> Option<(usize, &'static Stage)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    STAGES.get(index).map(|stage| (index, stage))
}

/// Passes rows on in the order of their indexes.
fn in_order<T>(
    rows: mpsc::Receiver<(usize, T)>,
    mut give: impl FnMut(T) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (mut waiting, mut due) = (BTreeMap::new(), 0);
    for (index, row) in rows {
        waiting.insert(index, row);
        while let Some(row) = waiting.remove(&due) {
            give(row)?;
            due += 1;
        }
    }
    Ok(())
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
        return Err("allocations are not counted correctly: the control should show 1".into());
    }
    Ok(row)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn per_event(events: usize, once: Counts, twice: Counts, of: impl Fn(Counts) -> u64) -> f64 {
    (of(twice) as f64 - of(once) as f64) / events as f64
}
