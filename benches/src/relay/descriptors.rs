//! The check that a process may open as many sockets as a measurement needs.

use std::error::Error;
use std::fs;

/// Refuses where a process may not open this many files (proc(5), `limits`).
pub(super) fn suffice(needed: usize) -> Result<(), Box<dyn Error>> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).ok_or("no limit of open files")?;
    match soft.parse::<usize>() {
        Ok(soft) if soft < needed => Err(format!(
            "each process needs {needed} descriptors, and may have {soft}: raise the limit with `ulimit -n {needed}`"
        )
        .into()),
        // Else it is `unlimited`.
        _ => Ok(()),
    }
}
