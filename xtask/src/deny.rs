//! `cargo xtask deny`: licences, sources and advisories of the dependencies, by cargo-deny and `deny.toml`.

use std::process::Command;

use crate::process::run as execute;
use crate::report::{Outcome, Report};
use crate::workspace::{cargo, root, target_folder};

/// The release that is installed, below the target folder.
const VERSION: &str = "0.20.2";

pub(crate) fn run(report: &mut Report) {
    let Some(binary) = report.step("cargo-deny", install) else { return };
    let check = |arguments: &[&str]| {
        execute(
            Command::new(&binary)
                .args(["--all-features", "--locked", "check"])
                .args(arguments)
                .current_dir(root()),
        )
    };
    report.step("licences, sources and bans", || {
        check(&["--hide-inclusion-graph", "bans", "licenses", "sources"])
    });
    let fetched = execute(Command::new(&binary).args(["fetch", "db"]).current_dir(root()));
    match fetched {
        Ok(()) => {
            report.step("advisories", || check(&["--disable-fetch", "advisories"]));
        }
        Err(why) => report.skip("advisories", &format!("the advisory database cannot be fetched ({why})")),
    }
}

/// Installs cargo-deny below the target folder unless it is there; returns its path.
fn install() -> Outcome<std::path::PathBuf> {
    let folder = target_folder()?.join("tools");
    let binary = folder.join("bin/cargo-deny");
    let is_current = Command::new(&binary)
        .arg("--version")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION));
    if !is_current {
        let arguments =
            ["install", "cargo-deny", "--locked", "--no-default-features", "--version", VERSION, "--root"];
        execute(cargo(&arguments).arg(&folder))?;
    }
    Ok(binary)
}
