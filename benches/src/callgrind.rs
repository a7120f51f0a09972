use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io};

use crate::stages::Stage;

/// The allocator's functions that allocate memory.
const ALLOCATING: [&str; 6] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"];

/// The work of one process.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Instructions executed in user space.
    pub(crate) instructions: u64,
    /// Calls of the functions that allocate memory.
    pub(crate) allocations: u64,
}

/// Runs a stage in a separate process under callgrind.
///
/// # Errors
///
/// Fails if valgrind is not installed, if the stage fails, or if callgrind's report cannot be read.
pub(crate) fn count(stage: Stage, events: usize, folder: &Path) -> Result<Counts, Box<dyn Error>> {
    let report = folder.join(format!("{}.{events}.callgrind", stage.name));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", report.display()))
        .arg(env::current_exe()?)
        .args(["stage", stage.name, &events.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                "valgrind is not installed (on Debian: apt install valgrind)".to_owned()
            }
            _ => format!("valgrind cannot be run: {error}"),
        })?;
    if !output.status.success() {
        return Err(format!("{}: {}", stage.name, String::from_utf8_lossy(&output.stderr)).into());
    }
    read_file(&report)
}

/// Reads and removes a report of callgrind.
///
/// # Errors
///
/// Fails if there is no report, or if its format is unknown.
pub(crate) fn read_file(report: &Path) -> Result<Counts, Box<dyn Error>> {
    let text = fs::read_to_string(report)?;
    fs::remove_file(report)?;
    read(&text).ok_or_else(|| format!("{}: callgrind's report cannot be read", report.display()).into())
}

/// Reads a report: <https://valgrind.org/docs/manual/cl-format.html>.
fn read(report: &str) -> Option<Counts> {
    let mut instructions = None;
    let mut allocations = 0;
    let mut callee = "";
    for line in report.lines() {
        if let Some(total) = line.strip_prefix("summary: ") {
            instructions = total.trim().parse().ok();
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = name;
        } else if let Some(calls) = line.strip_prefix("calls=")
            && ALLOCATING.contains(&callee)
        {
            allocations += calls.split(' ').next()?.parse::<u64>().ok()?;
        }
    }
    Some(Counts { instructions: instructions?, allocations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let report = "events: Ir\nfn=main\n4 100\ncob=/lib/libc.so\ncfn=malloc\ncalls=3 0\n5 60\ncfn=free\n\
                      calls=9 0\n6 9\nfn=other\ncfn=realloc\ncalls=2 0\n7 8\nsummary: 1234\ntotals: 1234\n";
        let counts = read(report).unwrap();
        assert_eq!((counts.instructions, counts.allocations), (1234, 5));
        assert!(read("events: Ir\n").is_none());
    }
}
