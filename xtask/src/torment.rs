//! `cargo xtask torment`: processes with stored runs that are killed, frozen and cut off.

use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::prerequisites::{self, Need};
use crate::process;
use crate::report::Report;
use crate::workspace::build_with_features;

/// The kills of CI.
pub(crate) const FEW: u32 = 300;

/// The kills that a release needs.
pub(crate) const ALL: u32 = 10_000;

/// The test of three servers on one PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster {
    /// The time over which the streams begin.
    pub(crate) minutes: u32,
    /// The streams while servers are disturbed.
    pub(crate) streams: u32,
    /// The streams while servers are replaced.
    pub(crate) deployed: u32,
    /// The seed of the disturbances.
    pub(crate) seed: Option<u64>,
}

impl Cluster {
    /// The test that a release needs.
    pub(crate) const ALL: Self = Self { minutes: 20, streams: 1_000, deployed: 500, seed: None };
}

/// Runs this many kills. Without a seed, each run has another one, which it prints.
pub(crate) fn sqlite(kills: u32, seed: Option<u64>, report: &mut Report) {
    let Some(program) = program(report) else { return };
    report.step(&format!("{kills} kills"), || {
        let seed = seed.unwrap_or_else(now);
        process::run(Command::new(&program).arg("sqlite").arg(kills.to_string()).arg(seed.to_string()))
    });
}

/// Runs the parts of the test of a cluster, one after the other.
pub(crate) fn cluster(test: Cluster, report: &mut Report) {
    let needs = [Need::Postgres, Need::FakeTime];
    if report.step("prerequisites", || prerequisites::provide(&needs)).is_none() {
        return;
    }
    let Some(program) = program(report) else { return };
    let Cluster { minutes, streams, deployed, seed } = test;
    let seed = seed.unwrap_or_else(now).to_string();
    let parts = [
        ("answers and stops at other servers", vec!["probes".to_owned()]),
        (
            "servers that are killed, frozen and cut off",
            vec!["storm".to_owned(), minutes.to_string(), streams.to_string(), seed],
        ),
        ("servers that are replaced", vec!["deploy".to_owned(), deployed.to_string()]),
    ];
    for (name, part) in parts {
        report.step(name, || process::run(Command::new(&program).args(["cluster", "postgres"]).args(part)));
    }
}

fn program(report: &mut Report) -> Option<PathBuf> {
    report.step("torment", || build_with_features("omniassist-torment", "failpoints"))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
