//! A child, its death, and what its viewer saw.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

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
    /// The lines that the viewer saw, and the times of their arrival.
    pub(crate) lines: Vec<(Instant, String)>,
    /// The failpoints that it passed, if they were traced.
    pub(crate) points: Vec<String>,
    /// The error, unless it was killed or ended by itself.
    pub(crate) fault: Option<String>,
}

/// Runs a child until it ends.
pub(crate) fn child(path: &Path, ledger: &str, case: &str, shape: &str, kill: &Kill, trace: bool) -> Ended {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("child").arg(path).args([ledger, case, shape]);
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
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let lines: Vec<_> = lines.map(|line| (Instant::now(), line)).collect();
        drop(send);
        lines
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
    if !has_ended {
        drop(child.kill());
    }
    let status = child.wait().unwrap();
    let (lines, errors) = (reader.join().unwrap(), errors.join().unwrap());
    let points = errors.lines().filter_map(|line| line.strip_prefix("@point ")).map(str::to_owned).collect();
    let was_killed = status.signal().is_some();
    let fault = if !has_ended && !is_ours {
        Some(format!("a child hangs: {}", tail(&errors)))
    } else if !was_killed && !status.success() {
        Some(format!("a child ended with {status}: {}", tail(&errors)))
    } else {
        None
    };
    Ended { was_killed, lines, points, fault }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("@point")).collect();
    lines[lines.len().saturating_sub(8)..].join(" | ")
}
