//! Compares the cost of the stages of `benches`, in instructions and allocations, with a baseline in the repository.
//!
//! `benches/README.md` describes the rules of the comparison.

mod baseline;
mod judge;
mod machine;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::prerequisites::{self, Need};
use crate::process;
use crate::report::{Outcome, Report};
use crate::workspace::{build_release, root};
use baseline::Baseline;

const ACCEPT: &str = "cargo xtask instructions --accept";

/// Fails if a stage costs more than the baseline allows.
pub(crate) fn check(report: &mut Report) {
    let Some(measured) = measure(report) else { return };
    report.step("instructions against the baseline", || {
        let text = fs::read_to_string(path())
            .map_err(|error| format!("{}: {error}; to write it: {ACCEPT}", path().display()))?;
        let baseline = Baseline::parse(&text).map_err(|why| format!("{}: {why}", path().display()))?;
        let judged = judge::judge(&baseline, &measured);
        for line in &judged.notes {
            println!("    {line}");
        }
        for line in &judged.failures {
            println!("    {line}");
        }
        match judged.failures.as_slice() {
            [] => Ok(()),
            [one] => Err(format!("{one}; to accept the cost: {ACCEPT}")),
            [first, rest @ ..] => {
                Err(format!("{first}, and {} more; to accept the cost: {ACCEPT}", rest.len()))
            }
        }
    });
}

/// Writes the measured costs as the new baseline.
pub(crate) fn accept(report: &mut Report) {
    let Some(measured) = measure(report) else { return };
    report.step("new baseline", || {
        let old = fs::read_to_string(path()).ok().and_then(|text| Baseline::parse(&text).ok());
        let new = match old {
            Some(old) => judge::accepted(&old, measured),
            None => measured,
        };
        fs::write(path(), new.to_string()).map_err(|error| format!("{}: {error}", path().display()))
    });
}

fn path() -> PathBuf {
    root().join("benches/baseline.txt")
}

/// Counts the instructions and allocations of every stage.
fn measure(report: &mut Report) -> Option<Baseline> {
    report.step("prerequisites", || prerequisites::provide(&[Need::Valgrind]))?;
    let benches = report.step("benches, as shipped", || build_release("omniassist-benches"))?;
    report.step("stages under callgrind", || -> Outcome<Baseline> {
        let counts = process::output(Command::new(benches).arg("counts"))?;
        Baseline::of(machine::describe()?, &counts)
    })
}
