//! The limits that the kernel enforces.

use std::fs;
use std::io;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::Code;

/// Bytes of address space beyond those of the program: the interpreter, its stack, and the frames that it sends.
const INTERPRETER: u64 = 128 << 20;

/// Open files: the pipes, and those that the interpreter's own libraries may open.
const FILES: u64 = 16;

/// Ticks of processor time in a second, which Linux tells programs in this unit on every architecture.
const TICKS: u64 = 100;

/// Sets the limits of a worker that is to run a program.
pub(super) fn set(worker: u32, limits: &Code) -> io::Result<()> {
    let pid = i32::try_from(worker).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    for (resource, most) in
        [(Resource::Fsize, 0), (Resource::Core, 0), (Resource::Nproc, 0), (Resource::Nofile, FILES)]
    {
        prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // The next program of the worker may be allowed more, so the maximum stays.
    let memory = u64::try_from(limits.max_memory()).unwrap_or(u64::MAX).saturating_add(INTERPRETER);
    let seconds = used_seconds(worker)?.saturating_add(limits.max_time().as_secs()).saturating_add(2);
    for (resource, most) in [(Resource::As, memory), (Resource::Cpu, seconds)] {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
        prlimit(Some(pid), resource, Rlimit { current, maximum })?;
    }
    Ok(())
}

/// Returns the processor time of a process.
fn used_seconds(process: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program, in brackets, can contain anything. The times are the 12th and 13th field after it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Ok(ticks.sum::<u64>() / TICKS)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::set;
    use crate::Code;

    /// Starts a shell that waits for a line before it runs the command.
    fn limited(command: &str, limits: &Code) -> std::process::Child {
        let script = format!("read line; {command}");
        let mut shell = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        set(shell.id(), limits).unwrap();
        drop(shell.stdin.take());
        shell
    }

    #[test]
    fn the_kernel_ends_a_loop() {
        let mut shell = limited("while :; do :; done", &Code::new().time(Duration::from_millis(1)));
        let status = shell.wait().unwrap();
        assert_eq!(status.signal(), Some(24), "SIGXCPU");
    }

    #[test]
    fn the_kernel_holds_memory_and_files() {
        let mut shell = limited("ulimit -v; ulimit -f; ulimit -c; ulimit -n", &Code::new().memory(64 << 20));
        let mut text = String::new();
        shell.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        shell.wait().unwrap();
        assert_eq!(text, format!("{}\n0\n0\n16\n", (64 + 128) << 10));
    }
}
