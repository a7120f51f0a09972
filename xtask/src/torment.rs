//! `cargo xtask torment`: processes with stored runs that are killed, frozen and cut off.

use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::prerequisites::{self, Need};
use crate::process;
use crate::report::{Outcome, Report};
use crate::workspace::{build_binary, cargo, root, target_folder};

/// The kills of CI.
pub(crate) const FEW: u32 = 300;

/// The kills that a release needs.
pub(crate) const ALL: u32 = 10_000;

/// The kills of runs with agents that a release needs.
pub(crate) const ALL_OF_AGENTS: u32 = 3_000;

/// The package of the program.
const PACKAGE: &str = "omniassist-torment";

/// The test of three servers on one PostgreSQL.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// The time over which the streams begin.
    pub(crate) minutes: u32,
    /// The streams while servers are disturbed.
    pub(crate) streams: u32,
    /// The streams while servers are replaced.
    pub(crate) deployed: u32,
    /// The seed of the disturbances.
    pub(crate) seed: Option<u64>,
    /// The revision whose servers are replaced by those of this one. Without it, they are the same.
    pub(crate) earlier: Option<String>,
}

impl Cluster {
    /// The test that a release needs.
    pub(crate) const ALL: Self =
        Self { minutes: 20, streams: 1_000, deployed: 500, seed: None, earlier: None };
}

/// Runs this many kills of a kind: `sqlite` or `agents`. Without a seed, each run has another one, which it prints.
pub(crate) fn kills(kind: &str, kills: u32, seed: Option<u64>, report: &mut Report) {
    let Some(program) = program(report) else { return };
    report.step(&format!("{kills} kills ({kind})"), || {
        let seed = seed.unwrap_or_else(now);
        process::run(Command::new(&program).arg(kind).arg(kills.to_string()).arg(seed.to_string()))
    });
}

/// Runs the parts of the test of a cluster, one after the other.
pub(crate) fn cluster(test: Cluster, report: &mut Report) {
    let needs = [Need::Postgres, Need::Redis, Need::FakeTime];
    if report.step("prerequisites", || prerequisites::provide(&needs)).is_none() {
        return;
    }
    let Some(program) = program(report) else { return };
    let Cluster { minutes, streams, deployed, seed, earlier } = test;
    let mut replaced = vec!["deploy".to_owned(), deployed.to_string()];
    if let Some(revision) = earlier {
        let Some(program) = report.step("the earlier version", || earlier_program(&revision)) else { return };
        replaced.push(program.display().to_string());
    }
    let seed = seed.unwrap_or_else(now).to_string();
    let parts = [
        ("answers and stops at other servers", "postgres", vec!["probes".to_owned()]),
        (
            "servers that are killed, frozen and cut off",
            "postgres+redis",
            vec!["storm".to_owned(), minutes.to_string(), streams.to_string(), seed],
        ),
        ("servers that are replaced", "postgres", replaced),
    ];
    for (name, database, part) in parts {
        report.step(name, || process::run(Command::new(&program).args(["cluster", database]).args(part)));
    }
}

fn program(report: &mut Report) -> Option<PathBuf> {
    report.step("torment", || build_binary(PACKAGE))
}

/// Builds the program of a revision in a worktree of its own, and returns its path.
fn earlier_program(revision: &str) -> Outcome<PathBuf> {
    let folder = target_folder()?.join("earlier");
    if !folder.exists() {
        let add = ["worktree", "add", "--detach"];
        process::run(Command::new("git").current_dir(root()).args(add).arg(&folder).arg(revision))?;
    }
    process::run(
        Command::new("git").current_dir(&folder).args(["checkout", "--quiet", "--detach", revision]),
    )?;
    let target = folder.join("target");
    let mut build = cargo(&["build", "--locked", "-p", PACKAGE, "--features", "failpoints"]);
    process::run(build.current_dir(&folder).arg("--target-dir").arg(&target))?;
    Ok(target.join("debug").join(PACKAGE))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
