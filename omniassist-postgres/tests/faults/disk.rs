//! A disk without room.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use omniassist_test_databases::Postgres;
use tempfile::TempDir;

use super::shop::{self, Fault};

/// A tablespace on a small file system in memory, which a file fills.
struct Full {
    /// The server stops before its disk is gone.
    postgres: Postgres,
    disk: Disk,
}

impl Full {
    fn filler(&self) -> PathBuf {
        self.disk.0.path().join("filler")
    }
}

impl Fault for Full {
    fn begin(&self) {
        let mut filler = File::create(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    fn end(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn url(&self) -> String {
        self.postgres.url("small")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_a_full_disk() {
    let postgres = Postgres::start(&[]);
    let Some(disk) = Disk::mount(40 << 20) else { return };
    let space = disk.0.path().join("space");
    fs::create_dir(&space).unwrap();
    chown(&space, Some(id(&["-u", "postgres"])), Some(id(&["-g", "postgres"]))).unwrap();
    fs::set_permissions(disk.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
    postgres.execute("postgres", &format!("create tablespace small location '{}'", space.display()));
    postgres.execute("postgres", "create database small tablespace small");
    shop::check(Full { postgres, disk }).await;
}

/// A file system of its own, in memory.
struct Disk(TempDir);

impl Disk {
    /// Mounts a file system of this size, or returns `None` where that is not possible.
    ///
    /// # Panics
    ///
    /// Panics where that is not possible although the user is root and `CI` is `true`.
    fn mount(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let is_mounted =
            run("mount", &["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"], folder.path());
        if !is_mounted {
            let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(
                !(is_ci && id(&["-u"]) == 0),
                "CI must not skip the faults of a disk: root can mount a tmpfs"
            );
            return None;
        }
        Some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("umount", &["--lazy"], self.0.path());
    }
}

fn id(arguments: &[&str]) -> u32 {
    let id = Command::new("id").args(arguments).output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().parse().unwrap()
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> bool {
    let mut command = Command::new(program);
    let status = command.args(arguments).arg(folder).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
