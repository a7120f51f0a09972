//! The programs that the suites need beside cargo.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::report::Outcome;
use crate::workspace::target_folder;

/// The oldest Node.js that the official clients run on.
const NODE: u32 = 18;

const CHROMIUM: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// A prerequisite of a suite, which a Debian package contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Node,
    Npm,
    Chromium,
    Firefox,
    /// The driver of WebKitGTK, which starts its small browser.
    WebKit,
    /// A display in memory, which WebKitGTK needs.
    Xvfb,
    /// Python with `venv`.
    Python,
    Valgrind,
    Postgres,
    PgBouncer,
    Redis,
    /// The library that changes the clock of a process.
    FakeTime,
}

impl Need {
    fn package(self) -> &'static str {
        match self {
            Self::Node => "nodejs",
            Self::Npm => "npm",
            Self::Chromium => "chromium-headless-shell",
            Self::Firefox => "firefox-esr",
            Self::WebKit => "webkit2gtk-driver",
            Self::Xvfb => "xvfb",
            Self::Python => "python3-venv",
            Self::Valgrind => "valgrind",
            Self::Postgres => "postgresql",
            Self::PgBouncer => "pgbouncer",
            Self::Redis => "redis-server",
            Self::FakeTime => "libfaketime",
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Node => node_major().is_some(),
            Self::Npm => on_path("npm").is_some(),
            Self::Chromium => chromium().is_some(),
            Self::Firefox => on_path("firefox-esr").is_some(),
            Self::WebKit => on_path("WebKitWebDriver").is_some(),
            Self::Xvfb => on_path("Xvfb").is_some(),
            Self::Valgrind => on_path("valgrind").is_some(),
            Self::Postgres => {
                on_path("postgres").is_some() || has_file("/usr/lib/postgresql", "bin/postgres")
            }
            Self::PgBouncer => on_path("pgbouncer").is_some(),
            Self::Redis => on_path("redis-server").is_some() && on_path("redis-cli").is_some(),
            Self::FakeTime => has_file("/usr/lib", "faketime/libfaketime.so.1"),
            Self::Python => {
                let probe = Command::new("python3").args(["-c", "import ensurepip, venv"]).output();
                probe.is_ok_and(|output| output.status.success())
            }
        }
    }
}

/// Checks the prerequisites. Installs missing ones as root on Debian.
///
/// # Errors
///
/// Fails with the missing packages if they cannot be installed here.
pub(crate) fn provide(needs: &[Need]) -> Outcome {
    let missing = |needs: &[Need]| -> Vec<&'static str> {
        needs.iter().filter(|need| !need.is_met()).map(|need| need.package()).collect()
    };
    let packages = missing(needs);
    if !packages.is_empty() {
        let line =
            format!("apt-get update && apt-get install -y --no-install-recommends {}", packages.join(" "));
        if !may_install() {
            return Err(format!("missing: {}. On Debian, as root: {line}", packages.join(", ")));
        }
        // Two checks of CI may install at the same time, and apt-get fails if another one runs.
        let mut install = Command::new("flock");
        install.arg(target_folder()?.join("apt.lock")).args(["sh", "-c", &line]);
        process::run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        let still = missing(needs);
        if !still.is_empty() {
            return Err(format!("installed, but not found: {}", still.join(", ")));
        }
    }
    if let (true, Some(major)) = (needs.contains(&Need::Node), node_major())
        && major < NODE
    {
        return Err(format!("Node.js {NODE} or newer is needed; `node --version` prints {major}"));
    }
    Ok(())
}

/// Returns the path of the browser: `CHROMIUM_BIN`, or the first of the usual names. The headless shell is the same engine
/// without the windows of a browser, which take two thirds of the processor time of a test.
pub(crate) fn chromium() -> Option<PathBuf> {
    env::var_os("CHROMIUM_BIN")
        .map(PathBuf::from)
        .filter(|path| path.is_file())
        .or_else(|| CHROMIUM.into_iter().find_map(on_path))
}

fn node_major() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

/// Returns `true` if one of the folders in a folder has this file.
fn has_file(folder: &str, file: &str) -> bool {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    folders.map(|entry| entry.path().join(file)).any(|candidate| candidate.is_file())
}

fn may_install() -> bool {
    let is_root =
        Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    is_root && Path::new("/etc/debian_version").exists() && on_path("apt-get").is_some()
}
