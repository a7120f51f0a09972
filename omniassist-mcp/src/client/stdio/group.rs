use std::io;
use std::process::Stdio;
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

/// The time for the end of a server after its input was closed, and after `SIGTERM`.
const END_TIME: Duration = Duration::from_secs(1);

/// A group of processes, which ends with this value and with the host.
///
/// The input of the server is closed before this value is dropped, or soon after. A second after the drop, the group gets
/// `SIGTERM`, and after another one `SIGKILL`. Without a runtime, and when the runtime ends, it is killed at once.
///
/// The leader of the group is a shell that waits for the end of its input, which only the host holds. However the host ends,
/// its pipes are closed, and the shell kills the group, and itself with it. It starts before the server, so the server is
/// never without it. (`PR_SET_PDEATHSIG` would end the server with the thread that has started it, and spares its children.)
/// Without a shell at `/bin/sh`, the server is the leader, and learns of the host's end by the end of its input.
///
/// A process that leaves the group is not killed.
pub(in crate::client) struct Group {
    processes: Processes,
}

/// The processes of a group, which are killed when this value is dropped.
#[derive(Default)]
struct Processes {
    /// Kept as long as the group, so that the id of the group is not given to another.
    children: Vec<Child>,
    _ended: Option<DropGuard>,
}

impl Group {
    /// Starts a process in a new group.
    #[cfg(unix)]
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        let mut guard = Command::new("/bin/sh");
        guard
            .args(["-c", "trap '' TERM; read -r end; kill -KILL 0"])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        let children = match guard.spawn() {
            Ok(guard) => vec![guard],
            Err(error) => {
                tracing::warn!(%error, "an MCP server is not killed if this process is, since there is no /bin/sh");
                Vec::new()
            }
        };
        let processes = Processes { children, _ended: None };
        let id = processes.id().unwrap_or(0);
        let child = command.process_group(id).spawn()?;
        Ok((child, Self { processes }))
    }

    /// Starts a process. There are no groups here.
    #[cfg(not(unix))]
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        Ok((command.spawn()?, Self { processes: Processes::default() }))
    }

    /// Adds a process that was started in the group. `ended` is dropped with it.
    pub(super) fn with(mut self, child: Child, ended: DropGuard) -> Self {
        self.processes.children.push(child);
        self.processes._ended = Some(ended);
        self
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let processes = std::mem::take(&mut self.processes);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(processes.end());
        }
    }
}

impl Processes {
    /// Lets the server end by itself, and then ends the group.
    async fn end(mut self) {
        self.wait().await;
        #[cfg(unix)]
        self.signal(Signal::TERM);
        self.wait().await;
    }

    /// Waits a second for the end of the server, which was started last.
    async fn wait(&mut self) {
        if let Some(server) = self.children.last_mut() {
            let _ = timeout(END_TIME, server.wait()).await;
        }
    }

    /// Sends a signal to the group.
    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id().and_then(Pid::from_raw) {
            // It fails if all processes have ended.
            let _ = kill_process_group(id, signal);
        }
    }

    #[cfg(unix)]
    fn id(&self) -> Option<i32> {
        self.children.first().and_then(Child::id).and_then(|id| id.try_into().ok())
    }
}

#[cfg(unix)]
impl Drop for Processes {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
