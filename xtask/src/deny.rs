//! `cargo xtask deny`: licences, sources and advisories of the dependencies, by cargo-deny and `deny.toml`.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::process::run as execute;
use crate::report::{Outcome, Report};
use crate::workspace::cargo;

/// The required release.
const VERSION: &str = "0.20.2";

pub(crate) fn run(report: &mut Report) {
    if report.step("cargo-deny", install).is_none() {
        return;
    }
    let check = |arguments: &[&str]| {
        execute(&mut cargo(&[&["deny", "--all-features", "--locked", "check"], arguments].concat()))
    };
    report.step("licences, sources and bans", || {
        check(&["--hide-inclusion-graph", "bans", "licenses", "sources"])
    });
    if has_advisories() {
        report.step("advisories", || check(&["--disable-fetch", "advisories"]));
    } else {
        report.skip(
            "advisories",
            "the advisory database is missing: run `cargo deny fetch db` with access to it",
        );
    }
}

/// Returns `true` if `cargo deny fetch db` has been run. This program does not run it, since it needs access to hosts
/// other than the registries.
fn has_advisories() -> bool {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let databases = home.and_then(|home| fs::read_dir(home.join("advisory-dbs")).ok());
    databases.is_some_and(|mut folders| {
        folders.any(|folder| folder.is_ok_and(|folder| folder.path().join("crates").is_dir()))
    })
}

/// Installs cargo-deny unless the required release is installed.
fn install() -> Outcome {
    let found = cargo(&["deny", "--version"]).output();
    if found.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION)) {
        return Ok(());
    }
    // It runs for some seconds, and optimised it takes minutes to build.
    let build =
        ["install", "cargo-deny", "--debug", "--locked", "--no-default-features", "--version", VERSION];
    execute(&mut cargo(&build))
}
