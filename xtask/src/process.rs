//! Running other programs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::report::Outcome;

/// Runs a command in the terminal of this program. A non-zero exit status is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    println!("    $ {}", shown(command));
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(command))),
        Err(error) => Err(format!("`{}` cannot be run: {error}", shown(command))),
    }
}

/// Runs a command, and prints each line of its standard output. A non-zero exit status is an error.
///
/// The command does not share the output of this program, so it cannot make it non-blocking.
pub(crate) fn run_and_print(command: &mut Command) -> Outcome {
    println!("    $ {}", shown(command));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}` cannot be run: {error}", shown(command)))?;
    for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
        let line = line.map_err(|error| format!("the output cannot be read: {error}"))?;
        println!("{}", String::from_utf8_lossy(&line));
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ended with {status}")),
        Err(error) => Err(format!("the program cannot be waited for: {error}")),
    }
}

/// Runs a command and writes its output to a file. A non-zero exit status is an error.
pub(crate) fn run_into(log: &Path, command: &mut Command) -> Outcome {
    let files = fs::create_dir_all(log.parent().unwrap_or(log))
        .and_then(|()| File::create(log))
        .and_then(|file| Ok((file.try_clone()?, file)));
    let (for_output, for_errors) = files.map_err(|error| format!("{}: {error}", log.display()))?;
    run(command.stdout(for_output).stderr(for_errors))
}

/// Runs a command and returns its standard output. Its errors go to the terminal.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    match command.stdin(Stdio::null()).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => {
            String::from_utf8(output.stdout).map_err(|_| format!("`{}` does not print UTF-8", shown(command)))
        }
        Ok(output) => Err(format!("`{}` ended with {}", shown(command), output.status)),
        Err(error) => Err(format!("`{}` cannot be run: {error}", shown(command))),
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
