//! One run: the copy, the suite without a slip, and the suite with each.

use std::process::Command;

use super::copy::{Copy, Verdict};
use super::slip::{self, Slip};
use crate::process::run as execute;
use crate::report::Report;
use crate::workspace::{root, target_folder};

/// Makes the slips that are named by their number, a part of their words or the file that must fail; all of them when
/// none is.
pub(crate) fn run(named: &[&str], report: &mut Report) {
    let is_named = |number: usize, slip: &Slip| {
        let names =
            |name: &&str| **name == number.to_string() || *name == slip.red || slip.what.contains(*name);
        named.is_empty() || named.iter().any(names)
    };
    let chosen: Vec<(usize, &Slip)> = slip::all().filter(|(number, slip)| is_named(*number, slip)).collect();
    let prepared = report.step("a copy with slips", || {
        let clients = root().join("tests/clients");
        execute(Command::new("npm").args(["ci", "--no-fund", "--no-audit"]).current_dir(&clients))?;
        let copy = Copy::new(target_folder()?.join("slips"));
        copy.make()?;
        copy.build()?;
        Ok(copy)
    });
    let Some(copy) = prepared else { return };

    let mut suites: Vec<&str> = chosen.iter().map(|(_, slip)| slip.red).collect();
    suites.sort_unstable();
    suites.dedup();
    let unchanged = report.step("no slip", || match copy.verdict(0, &suites)? {
        Verdict::Green => Ok(()),
        Verdict::Red(test) => Err(format!("fails without any slip: {test}")),
    });
    if unchanged.is_none() {
        return;
    }

    let mut caught = Vec::new();
    for (number, slip) in &chosen {
        let name = format!("slip {number}: {}", slip.what);
        let test = report.step(&name, || match copy.verdict(*number, &[slip.red])? {
            Verdict::Red(test) => Ok(test),
            Verdict::Green => Err(format!("survived: {}.test.mjs passes", slip.red)),
        });
        if let Some(test) = test {
            caught.push(format!("{number:>4}  {} -> {}: {test}", slip.what, slip.red));
        }
    }
    println!("\nslip -> file of the suite: the first test that fails");
    caught.iter().for_each(|line| println!("{line}"));
    println!("{} of {} slips turn the suite red", caught.len(), chosen.len());
}
