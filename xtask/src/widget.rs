//! `cargo xtask widget`: the browser code that the server contains, and the sizes of other chats for web pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::prerequisites::{self, Need};
use crate::process::{output, run as execute};
use crate::report::{Outcome, Report};
use crate::workspace::{cargo, root};

/// The package whose assets the browser code is.
const SERVER: &str = "omniassist-server";

/// The tasks of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Builds the files.
    Build,
    /// Fails if the files are not those that would be built, or are too large.
    Check,
    /// Measures other chats, after the build.
    Rivals,
}

/// Returns the folder with the sources.
pub(crate) fn folder() -> PathBuf {
    root().join("widget")
}

/// Returns the command for a script of the package in [`folder`].
pub(crate) fn npm(script: &str) -> Command {
    let mut npm = Command::new("npm");
    npm.args(["run", script]).current_dir(folder());
    npm
}

/// Installs the packages that a lock file lists.
pub(crate) fn npm_ci(folder: &Path) -> Outcome {
    execute(Command::new("npm").args(["ci", "--no-fund", "--no-audit"]).current_dir(folder))
}

pub(crate) fn run(task: Task, report: &mut Report) {
    if report.step("prerequisites", || prerequisites::provide(&[Need::Node, Need::Npm])).is_none()
        || report.step("npm ci in widget", || npm_ci(&folder())).is_none()
    {
        return;
    }
    if task == Task::Check {
        return check(report);
    }
    report.step("types of the widget", || execute(&mut npm("types")));
    report.step("modules of the widget", || execute(&mut npm("build")));
    if task == Task::Rivals {
        let rivals = folder().join("rivals");
        if report.step("npm ci in widget/rivals", || npm_ci(&rivals)).is_some() {
            report.step("sizes of other chats", || {
                execute(Command::new("node").arg("measure.mjs").current_dir(&rivals))
            });
        }
    }
}

/// Checks the types, the built files and the package. Its packages of npm are installed before.
pub(crate) fn check(report: &mut Report) {
    report.step("types and modules of the widget", || execute(&mut npm("check")));
    report.step("modules in the package of the server", packaged);
}

/// Checks that the crate's package has each module and its compressed forms.
fn packaged() -> Outcome {
    let list = output(&mut cargo(&["package", "--locked", "--list", "--allow-dirty", "-p", SERVER]))?;
    let assets = root().join(SERVER).join("assets/widget/assets.json");
    let assets = fs::read_to_string(&assets).map_err(|error| format!("{}: {error}", assets.display()))?;
    let assets: Value = serde_json::from_str(&assets).map_err(|error| format!("assets.json: {error}"))?;
    let files = assets.get("files").and_then(Value::as_array).ok_or("assets.json lists no files")?;
    let modules = files.iter().filter_map(|file| file.get("path")?.as_str());
    let needed =
        modules.flat_map(|path| ["", ".gz", ".br"].map(|ending| format!("assets/widget/{path}{ending}")));
    let missing: Vec<String> = needed.filter(|path| !list.lines().any(|line| line == path)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("not in the package: {}", missing.join(", "))) }
}
