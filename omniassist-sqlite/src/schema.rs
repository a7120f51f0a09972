//! The tables, and their versions.

use omniassist_server::failpoint;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::failure::Failure;
use crate::time;

/// The statements that lead from each version to the next; the first ones create the tables.
///
/// A released entry never changes. Each one leaves the tables such that the version before can use them. A program of an older
/// version opens newer tables, until a migration raises `usable_from`.
const MIGRATIONS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// Brings the tables to the latest version, in one transaction. Newer tables stay as they are.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version =
        version(&transaction)?.ok_or(Failure::Incompatible("the database was not made by OmniAssist"))?;
    if version > MIGRATIONS.len() && usable_from(&transaction)? > MIGRATIONS.len() {
        return Err(Failure::Incompatible("the database was made by a newer version of OmniAssist"));
    }
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(version) {
        transaction.execute_batch(migration)?;
        failpoint::hit("schema.created");
        let number = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1);
        let insert = "insert into schema_version (version, applied_at) values (?1, ?2)";
        transaction.execute(insert, (number, time::now()))?;
    }
    Ok(transaction.commit()?)
}

/// Returns the oldest version of the tables whose programs can use them. Tables of version 1 do not have the column.
fn usable_from(connection: &Connection) -> Result<usize, Failure> {
    let oldest = "select max(usable_from) from schema_version";
    let oldest: i64 = connection.query_row(oldest, [], |row| row.get(0))?;
    Ok(usize::try_from(oldest).unwrap_or(usize::MAX))
}

/// Returns the version of the tables: 0 for an empty database, and `None` for that of another program.
fn version(connection: &Connection) -> Result<Option<usize>, Failure> {
    let table =
        "select name = 'schema_version' from sqlite_master where type = 'table' order by 1 desc limit 1";
    let has_own_table: Option<bool> = connection.query_row(table, [], |row| row.get(0)).optional()?;
    match has_own_table {
        None => Ok(Some(0)),
        Some(false) => Ok(None),
        Some(true) => {
            let latest = "select coalesce(max(version), 0) from schema_version";
            let version: i64 = connection.query_row(latest, [], |row| row.get(0))?;
            Ok(usize::try_from(version).ok())
        }
    }
}
