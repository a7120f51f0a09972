use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system of its own, in memory.
pub(super) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Mounts a file system of this size on a folder, or returns `None` where that is not possible.
    ///
    /// # Panics
    ///
    /// Panics where that is not possible although the user is root and `CI` is `true`.
    pub(super) fn mount(folder: &Path, bytes: u64) -> Option<Self> {
        let size = format!("size={bytes}");
        let is_mounted = run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs"], folder);
        if !is_mounted {
            let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
            assert!(!(is_ci && is_root), "CI must not skip the faults of a disk: root can mount a tmpfs");
        }
        is_mounted.then(|| Self { folder: folder.to_owned() })
    }

    /// Allows reading only, as soon as no file is open.
    pub(super) fn make_read_only(&self) {
        let is_done = (0..1000).any(|_| run("mount", &["-o", "remount,ro"], &self.folder));
        assert!(is_done, "a file is open for writing");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A thread of a store may still close its file.
        run("umount", &["--lazy"], &self.folder);
    }
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> bool {
    let mut command = Command::new(program);
    let status = command.args(arguments).arg(folder).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
