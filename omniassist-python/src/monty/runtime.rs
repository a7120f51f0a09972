use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use monty_types::MONTY_VERSION;
use tokio::process::Command;
use tokio::time::timeout;

use crate::PythonError;

/// The time that the runtime has to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks that the file is the runtime of the version that the pool speaks with.
pub(super) async fn check(path: &Path) -> Result<(), PythonError> {
    if !path.is_file() {
        return Err(PythonError::missing(path));
    }
    let mut command = Command::new(path);
    command.arg("--version").env_clear().stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            return Err(PythonError::version(path, None, MONTY_VERSION).with_source(error));
        }
        Err(elapsed) => return Err(PythonError::version(path, None, MONTY_VERSION).with_source(elapsed)),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().strip_prefix("monty-runtime ") {
        Some(MONTY_VERSION) => Ok(()),
        Some(other) => Err(PythonError::version(path, Some(&format!("version {other}")), MONTY_VERSION)),
        None => Err(PythonError::version(path, None, MONTY_VERSION)),
    }
}
