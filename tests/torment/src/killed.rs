//! A child, its death, and what its viewer saw.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::moments::{self, now};
use crate::port;
use crate::shape::Shape;

/// The time after which a child hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The way in which a child dies.
#[derive(Debug, Clone)]
pub(crate) enum Kill {
    /// At the n-th pass of a failpoint.
    At(String, u32),
    /// After a time, by `kill -9`.
    After(Duration),
    None,
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) was_killed: bool,
    /// The time of its death.
    pub(crate) death: Option<Duration>,
    /// The output: the answers that the viewer saw, and the moments that the child wrote.
    pub(crate) lines: Vec<String>,
    /// The failpoints that it passed, if they were traced.
    pub(crate) points: Vec<String>,
    /// The error, unless it was killed or ended by itself.
    pub(crate) fault: Option<String>,
}

/// A case: children on one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) path: &'a Path,
    pub(crate) ledger: &'a str,
    pub(crate) name: &'a str,
    pub(crate) shape: Shape,
    pub(crate) is_encrypted: bool,
}

/// Runs a child until it ends.
pub(crate) fn child(case: Case<'_>, kill: &Kill, trace: bool) -> Ended {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("child").arg(case.path).args([case.ledger, case.name, case.shape.name()]);
    command.arg(if case.is_encrypted { "encrypted" } else { "plain" });
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match kill {
        Kill::At(point, n) => command.env("OMNIASSIST_KILL", format!("{point}:{n}")),
        _ if trace => command.env("OMNIASSIST_KILL", "?"),
        _ => command.env_remove("OMNIASSIST_KILL"),
    };
    let mut child = command.spawn().unwrap();
    let (output, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (send, ended) = mpsc::channel::<()>();
    let reader = thread::spawn(move || {
        thread::scope(|scope| {
            let (mut lines, mut client) = (Vec::new(), None);
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(port) = line.strip_prefix("@port ").and_then(|port| port.parse().ok()) {
                    client = Some(scope.spawn(move || port::ask(port)));
                }
                lines.push(line);
            }
            drop(send);
            lines.extend(client.map(|client| client.join().unwrap()).unwrap_or_default());
            lines
        })
    });
    let errors = thread::spawn(move || {
        let mut text = String::new();
        drop(errors.read_to_string(&mut text));
        text
    });
    let (limit, is_ours) = match kill {
        Kill::After(time) => (*time, true),
        _ => (PATIENCE, false),
    };
    let has_ended = ended.recv_timeout(limit) != Err(mpsc::RecvTimeoutError::Timeout);
    let shot = (!has_ended).then(|| {
        drop(child.kill());
        now()
    });
    let status = child.wait().unwrap();
    let (lines, errors) = (reader.join().unwrap(), errors.join().unwrap());
    let points = errors.lines().filter_map(|line| line.strip_prefix("@point ")).map(str::to_owned).collect();
    let was_killed = status.signal().is_some();
    let death = shot.or_else(|| moments::death(lines.iter().map(String::as_str)));
    let fault = if !has_ended && !is_ours {
        Some(format!("a child hangs: {}", tail(&errors)))
    } else if !was_killed && !status.success() {
        Some(format!("a child ended with {status}: {}", tail(&errors)))
    } else {
        None
    };
    Ended { was_killed, death, lines, points, fault }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("@point")).collect();
    lines[lines.len().saturating_sub(8)..].join(" | ")
}
