//! `cargo xtask torment`: processes that are killed while they answer with stored runs.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::process;
use crate::report::Report;
use crate::workspace::build_with_features;

/// The kills of CI.
pub(crate) const FEW: u32 = 300;

/// The kills that a release needs.
pub(crate) const ALL: u32 = 10_000;

/// Runs this many kills. Without a seed, each run has another one, which it prints.
pub(crate) fn run(kills: u32, seed: Option<u64>, report: &mut Report) {
    let program = report.step("torment", || build_with_features("omniassist-torment", "failpoints"));
    let Some(program) = program else { return };
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = seed.unwrap_or_else(now);
    report.step(&format!("{kills} kills"), || {
        process::run(Command::new(program).arg("sqlite").arg(kills.to_string()).arg(seed.to_string()))
    });
}
