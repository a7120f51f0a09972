//! PostgreSQL and Redis for the servers. Neither keeps anything.

use std::path::Path;
use std::process::Command;

use omniassist_test_databases::{Postgres, Redis};

/// Starts PostgreSQL in a temporary folder. As root on Debian, it is installed first if it is missing. It stops when the value
/// is dropped.
pub(crate) fn start() -> Postgres {
    if !Path::new("/usr/lib/postgresql").exists() && !runs("postgres") {
        install("postgresql");
    }
    Postgres::start(&[])
}

/// Starts Redis, in the same way.
pub(crate) fn start_redis() -> Redis {
    if !runs("redis-server") {
        install("redis-server");
    }
    Redis::start()
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn install(package: &str) {
    if !Path::new("/etc/debian_version").exists() {
        return;
    }
    let install = format!("apt-get update -q && apt-get install -y -q --no-install-recommends {package}");
    tracing::info!("{package} is missing: {install}");
    // Where this fails, the next step shows the command.
    drop(Command::new("sh").args(["-c", &install]).env("DEBIAN_FRONTEND", "noninteractive").status());
}
