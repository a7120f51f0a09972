//! The check that `omniassist-sqlite` compiles with the oldest `rusqlite` that it accepts, in one build with `sqlx` 0.8.
//!
//! The workspace's own lock file covers a recent `rusqlite`.

use std::fs;

use crate::process::run as execute;
use crate::report::Outcome;
use crate::workspace::{cargo, root, target_folder};

pub(crate) fn check() -> Outcome {
    let folder = root().join("tests/sqlite-range");
    // The other versions are those of the workspace, so that few crates are compiled again.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let manifest = folder.join("Cargo.toml");
    let mut check = cargo(&["check", "--tests", "--manifest-path"]);
    execute(check.arg(manifest).env("CARGO_TARGET_DIR", target_folder()?))
}
