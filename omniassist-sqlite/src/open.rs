//! Connections and their settings.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::SqliteOptions;
use crate::failure::Failure;

/// The number of prepared statements that a connection keeps.
const STATEMENTS: usize = 64;

/// Opens the connection that writes, and creates the file if there is none.
pub(crate) fn writer(path: &Path, options: &SqliteOptions) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = open(path, options, flags)?;
    // A new file only. Messages of 1 to 3 KB fill larger pages better: a conversation takes a third less room.
    connection.execute_batch("pragma page_size = 8192")?;
    let mode: String = connection.query_row("pragma journal_mode = wal", [], |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(Failure::Incompatible("the file system has no shared memory for a write-ahead log"));
    }
    // Deleted content is overwritten with zeros in the file (`Log` removes it from the log), and a log that has grown large
    // is cut.
    connection.execute_batch(
        "pragma foreign_keys = on;
         pragma secure_delete = on;
         pragma journal_size_limit = 67108864;",
    )?;
    if let Some(bytes) = options.max_bytes {
        limit(&connection, bytes)?;
    }
    Ok(connection)
}

/// Limits the size of the file.
fn limit(connection: &Connection, bytes: u64) -> Result<(), Failure> {
    let page: u32 = connection.query_row("pragma page_size", [], |row| row.get(0))?;
    // SQLite ignores a limit of 0 pages, and has at most this many.
    let pages = (bytes / u64::from(page.max(1))).clamp(1, 0xffff_fffe);
    connection.query_row(&format!("pragma max_page_count = {pages}"), [], |_row| Ok(()))?;
    Ok(())
}

/// Opens a connection that reads.
pub(crate) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection, Failure> {
    open(path, options, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Path, options: &SqliteOptions, flags: OpenFlags) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
