//! PostgreSQL for the servers, in a temporary folder.

use std::path::Path;
use std::process::Command;

use omniassist_test_databases::Postgres;

/// Starts PostgreSQL. As root on Debian, it is installed first if it is missing. It stops when the value is dropped.
pub(crate) fn start() -> Postgres {
    if !is_installed() && Path::new("/etc/debian_version").exists() {
        let install = "apt-get update -q && apt-get install -y -q --no-install-recommends postgresql";
        tracing::info!("PostgreSQL is missing: {install}");
        // Where this fails, the next step shows the command.
        drop(Command::new("sh").args(["-c", install]).env("DEBIAN_FRONTEND", "noninteractive").status());
    }
    Postgres::start(&[])
}

fn is_installed() -> bool {
    Path::new("/usr/lib/postgresql").exists()
        || Command::new("postgres").arg("--version").output().is_ok_and(|output| output.status.success())
}
