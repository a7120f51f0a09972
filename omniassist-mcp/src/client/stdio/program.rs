use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use omniassist_core::Text;
use tokio::io::DuplexStream;
use tokio::process::ChildStdin;
use tokio_util::sync::CancellationToken;

use super::{group::Group, lines, stderr};

/// A program with its arguments, and nothing of the host's environment but the `PATH`, which launchers such as `npx` need.
pub(in crate::client) struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
}

/// A program that runs.
pub(in crate::client) struct Process {
    /// Its lines, to the first one that is too long.
    pub(in crate::client) stdout: DuplexStream,
    pub(in crate::client) stdin: ChildStdin,
    /// Is cancelled before a line that is too long ends the output.
    pub(in crate::client) over_limit: CancellationToken,
    pub(in crate::client) group: Group,
}

impl Program {
    pub(in crate::client) fn new(command: &Command) -> Self {
        let listed = |(name, value): (_, Option<_>)| Some((OsString::from(name), OsString::from(value?)));
        let has_path = command.get_envs().any(|(name, _)| name == "PATH");
        let path = std::env::var_os("PATH").filter(|_| !has_path).map(|path| ("PATH".into(), path));
        Self {
            path: found(Path::new(command.get_program())),
            arguments: command.get_args().map(OsString::from).collect(),
            environment: path.into_iter().chain(command.get_envs().filter_map(listed)).collect(),
            directory: command.get_current_dir().map(PathBuf::from),
        }
    }

    /// Starts the program in a group of its own.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub(in crate::client) fn spawn(&self, source: &Text) -> io::Result<Process> {
        let mut command = tokio::process::Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let (mut child, group) = Group::spawn(&mut command)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ended = CancellationToken::new();
        if let Some(stderr) = stderr {
            tokio::spawn(stderr::log(source.clone(), stderr, ended.clone()));
        }
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(io::Error::other("the pipes of the process are missing"));
        };
        let over_limit = CancellationToken::new();
        let stdout = lines::passed_on(source.clone(), stdout, over_limit.clone());
        Ok(Process { stdout, stdin, over_limit, group: group.with(child, ended.drop_guard()) })
    }
}

/// Finds a program on the `PATH` of the host, since that of the command can be another.
fn found(program: &Path) -> PathBuf {
    let is_bare = program.components().count() == 1 && program.file_name().is_some();
    let path = std::env::var_os("PATH").filter(|_| is_bare).unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
    candidates.find(|candidate| candidate.is_file()).unwrap_or_else(|| program.to_owned())
}
