//! A PostgreSQL server, and what it has done.

use std::error::Error;
use std::fs;
use std::time::Instant;

use omniassist_test_databases::Postgres;
use tempfile::TempDir;

use crate::relay::report::Line;

/// The ticks of a second in the figures of processes (proc(5), `stat`).
const TICKS: f64 = 100.0;

/// A PostgreSQL server of this measurement, and a folder for the times of commits.
pub(super) struct Database {
    server: Postgres,
    folder: TempDir,
}

/// The work of the server up to a time.
pub(super) struct Work {
    at: Instant,
    ticks: f64,
    transactions: f64,
    wal: f64,
}

/// The work of the server between two times.
pub(super) struct Rates {
    /// The seconds between.
    pub(super) seconds: f64,
    /// The cores that were busy.
    pub(super) cores: f64,
    /// Transactions a second.
    transactions: f64,
    /// Megabytes of write-ahead log a second.
    pub(super) wal: f64,
}

impl Rates {
    /// Returns the lines of the rates.
    pub(super) fn lines(&self, what: &str) -> [Line; 3] {
        [
            Line::alone(format!("{what}: transactions a second"), self.transactions, ""),
            Line::alone(format!("{what}: write-ahead log a second"), self.wal, "MB"),
            Line::alone(format!("{what}: the database's cores"), self.cores, ""),
        ]
    }
}

impl Database {
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        Ok(Self { server: Postgres::start(&[]), folder: tempfile::tempdir()? })
    }

    /// Creates an empty database and returns its URL.
    pub(super) fn url(&self) -> String {
        self.server.create_database()
    }

    /// Returns the path of an empty file for the times of commits.
    pub(super) fn times(&self) -> Result<String, Box<dyn Error>> {
        let path = self.folder.path().join("times");
        fs::write(&path, "")?;
        Ok(path.to_str().ok_or("the folder of temporary files has no UTF-8 name")?.to_owned())
    }

    /// Returns the work of the server up to now.
    pub(super) fn work(&self) -> Result<Work, Box<dyn Error>> {
        let figures = self.server.execute(
            "postgres",
            "select sum(xact_commit), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') from pg_stat_database",
        );
        let (transactions, wal) = figures.split_once('|').ok_or("no figures of the database")?;
        let (transactions, wal) = (transactions.parse()?, wal.parse()?);
        Ok(Work { at: Instant::now(), ticks: self.ticks()?, transactions, wal })
    }

    /// Returns the work of the server since a time.
    pub(super) fn since(&self, before: &Work) -> Result<Rates, Box<dyn Error>> {
        let now = self.work()?;
        let seconds = (now.at - before.at).as_secs_f64();
        Ok(Rates {
            seconds,
            cores: (now.ticks - before.ticks) / TICKS / seconds,
            transactions: (now.transactions - before.transactions) / seconds,
            wal: (now.wal - before.wal) / 1e6 / seconds,
        })
    }

    /// Returns the processor time of the server's processes, including those that have ended.
    fn ticks(&self) -> Result<f64, Box<dyn Error>> {
        let server = self.server.pid();
        let mut sum = 0.0;
        for entry in fs::read_dir("/proc")?.flatten() {
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            // The name in parentheses may contain spaces.
            let Some((_, stat)) = stat.rsplit_once(')') else { continue };
            let fields: Vec<&str> = stat.split_whitespace().collect();
            // The second two of these fields are the times of children that have ended.
            let times = if entry.file_name().to_str() == Some(&server) {
                11..15
            } else if fields.get(1) == Some(&&*server) {
                11..13
            } else {
                continue;
            };
            for time in fields.get(times).unwrap_or_default() {
                sum += time.parse::<f64>()?;
            }
        }
        Ok(sum)
    }
}
