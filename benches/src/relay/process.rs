//! The processes of a measurement, and the kernel's figures about them.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _, stdin, stdout};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

/// Ends this process when its parent closes its input or ends.
pub(super) fn end_with_input() {
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
}

/// Prints the address on which this process listens, for the process that started it.
pub(super) fn announce(address: SocketAddr) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{address}")?;
    out.flush()
}

/// Leaves the first core to a pinned server. This process and its later children use the other cores.
pub(super) fn leave_first_core() -> Result<(), Box<dyn Error>> {
    let last = std::thread::available_parallelism()?.get() - 1;
    if last == 0 {
        return Err("--pin needs two cores".into());
    }
    let id = std::process::id().to_string();
    let set = Command::new("taskset").args(["-a", "-p", "-c", &format!("1-{last}"), &id]).output()?;
    if set.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&set.stderr).into()) }
}

/// A process of this program with another command. Dropping it ends the process.
pub(super) struct Process {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Process {
    /// Starts this program with other arguments and waits until it listens.
    pub(super) fn start(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        Self::of(Command::new(env::current_exe()?).args(arguments))
    }

    /// Starts the program on the first core alone.
    pub(super) fn start_pinned(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        Self::of(Command::new("taskset").args(["-c", "0"]).arg(env::current_exe()?).args(arguments))
    }

    /// Starts the program under callgrind, which writes its report when the process is ended.
    pub(super) fn start_counted(arguments: &[&str], report: &str) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--compress-strings=no", "-q"]);
        command.arg(format!("--callgrind-out-file={report}"));
        Self::of(command.arg(env::current_exe()?).args(arguments))
    }

    fn of(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address =
            line.trim().parse().map_err(|_| format!("{command:?} printed {line:?} instead of an address"))?;
        Ok(Self { child, address })
    }

    /// Returns the processor time of all living threads so far, in nanoseconds (proc(5), `schedstat`).
    pub(super) fn cpu(&self) -> Result<u64, Box<dyn Error>> {
        let mut sum = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let stat = fs::read_to_string(thread?.path().join("schedstat"))?;
            sum += stat.split_whitespace().next().ok_or("an empty schedstat")?.parse::<u64>()?;
        }
        Ok(sum)
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn rss(&self) -> Result<u64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no VmRSS")?.parse::<u64>()? * 1024)
    }

    /// Closes the input of the process, and waits until it ends.
    pub(super) fn end(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
