//! The database file of a measured server.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

/// The database file of a server, in a folder that is deleted afterwards.
pub(super) struct File {
    folder: TempDir,
}

impl File {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("assistant.db")
    }

    /// Returns the last arguments of `serve` for a server with this file.
    pub(super) fn name(&self) -> Result<String, Box<dyn Error>> {
        Ok(self.path().to_str().ok_or("the folder of temporary files has no UTF-8 name")?.to_owned())
    }

    /// Counts all rows that are written from now on, except the leases of processes.
    pub(super) fn count_rows(&self) -> Result<(), Box<dyn Error>> {
        let connection = Connection::open(self.path())?;
        connection.execute_batch("create table written (rows integer); insert into written values (0);")?;
        let mut tables = connection.prepare(
            "select name from sqlite_schema where type = 'table' and name not in ('written', 'instance')
             and name not like 'sqlite_%'",
        )?;
        let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for table in tables {
            for event in ["insert", "update", "delete"] {
                connection.execute_batch(&format!(
                    "create trigger count_{table}_{event} after {event} on {table}
                     begin update written set rows = rows + 1; end;"
                ))?;
            }
        }
        Ok(())
    }

    /// Returns the number of rows written since [`count_rows`](Self::count_rows).
    pub(super) fn written(&self) -> Result<u32, Box<dyn Error>> {
        let connection = Connection::open(self.path())?;
        Ok(connection.query_row("select rows from written", [], |row| row.get(0))?)
    }

    /// Returns the bytes of the file without its write-ahead log.
    pub(super) fn bytes(&self) -> Result<u64, Box<dyn Error>> {
        let connection = Connection::open(self.path())?;
        connection.query_row("pragma wal_checkpoint(truncate)", [], |_row| Ok(()))?;
        Ok(fs::metadata(self.path())?.len())
    }

    /// Returns the bytes of the file, and those of the messages in it.
    pub(super) fn size(&self) -> Result<(u64, u64), Box<dyn Error>> {
        let connection = Connection::open(self.path())?;
        let messages =
            connection.query_row("select sum(length(body)) from message", [], |row| row.get::<_, i64>(0))?;
        Ok((self.bytes()?, u64::try_from(messages)?))
    }
}
