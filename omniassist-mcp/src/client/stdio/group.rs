use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};
use tokio_util::sync::DropGuard;

/// A group of processes, which ends with this value and with the host.
///
/// The leader of the group is a shell that waits for the end of its input, which only the host holds. However the host ends,
/// its pipes are closed, and the shell kills the group, and itself with it. It starts before the server, so the server is
/// never without it. (`PR_SET_PDEATHSIG` would end the server with the thread that has started it, and spares its children.)
/// Without a shell at `/bin/sh`, the server is the leader, and learns of the host's end by the end of its input.
///
/// A process that leaves the group is not killed.
pub(in crate::client) struct Group {
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
            .args(["-c", "read -r end; kill -KILL 0"])
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
        let group = Self { children, _ended: None };
        let id = group.id().unwrap_or(0);
        let child = command.process_group(id).spawn()?;
        Ok((child, group))
    }

    /// Starts a process. There are no groups here.
    #[cfg(not(unix))]
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        Ok((command.spawn()?, Self { children: Vec::new(), _ended: None }))
    }

    /// Adds a process that was started in the group. `ended` is dropped with it.
    pub(super) fn with(mut self, child: Child, ended: DropGuard) -> Self {
        self.children.push(child);
        self._ended = Some(ended);
        self
    }

    #[cfg(unix)]
    fn id(&self) -> Option<i32> {
        self.children.first().and_then(Child::id).and_then(|id| id.try_into().ok())
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};

        if let Some(id) = self.id().and_then(Pid::from_raw) {
            // It fails if all processes have ended.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}
