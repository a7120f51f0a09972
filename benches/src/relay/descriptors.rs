//! The check that a process may open as many sockets as a measurement needs.

use std::error::Error;
use std::fs;

/// Checks that each process may open `needed` files (proc(5), `limits`).
///
/// # Errors
///
/// Fails if the limit is lower, or if it cannot be read.
pub(super) fn suffice(needed: usize) -> Result<(), Box<dyn Error>> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("/proc/self/limits has no limit of open files")?;
    match soft.parse::<usize>() {
        Ok(soft) if soft < needed => Err(format!(
            "each process needs {needed} descriptors, and its limit is {soft}: raise it with `ulimit -n {needed}`"
        )
        .into()),
                // A limit that is not a number is `unlimited`.
        _ => Ok(()),
    }
}
