//! Python environments of the suites.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::run;
use crate::report::Outcome;
use crate::workspace::target_folder;

/// Installs the pinned packages of a suite in an environment below the target folder. Returns its interpreter.
pub(crate) fn environment(name: &str, suite: &Path) -> Outcome<PathBuf> {
    let environment = target_folder()?.join(format!("python/{name}"));
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
    run(Command::new(&python).args(install).current_dir(suite))?;
    Ok(python)
}
