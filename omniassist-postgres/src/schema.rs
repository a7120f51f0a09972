//! The tables, and their versions.

use std::borrow::Cow;

use crate::database::{Pool, Transaction};
use crate::failure::Failure;
use crate::values::values;
use crate::{rows, sql};

/// The statements that lead from each version to the next; the first ones create the tables.
///
/// A released entry never changes. Each one leaves the tables such that the version before can use them, and inserts its
/// number into `schema_version`. A program of an older version starts beside newer tables, until a migration raises
/// `usable_from`.
const MIGRATIONS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// The key of the lock under which tables are migrated: "omniassi" in ASCII.
const LOCK: i64 = 0x6f6d_6e69_6173_7369;

/// Returns the statements of each version, those that create the schema included.
pub(crate) fn migrations(schema: &str) -> Vec<String> {
    let mut migrations: Vec<String> = MIGRATIONS.map(|sql| sql::within(schema, sql).into_owned()).into();
    if let Some(first) = migrations.first_mut() {
        first.insert_str(0, &create_schema(schema));
    }
    migrations
}

/// It takes a right that the owner of an existing schema need not have, so it is separate.
fn create_schema(schema: &str) -> String {
    format!("create schema if not exists \"{schema}\";\n")
}

/// Brings the tables to the latest version, in one transaction. Newer tables stay as they are.
pub(crate) async fn migrate(pool: &Pool) -> Result<(), Failure> {
    let transaction = pool.transaction().await?;
    if Found::look(&transaction).await?.version >= MIGRATIONS.len() {
        transaction.end();
        return Ok(());
    }
    // Without the limits of other transactions: another process may migrate large tables.
    // What is looked at after the wait must not be from before it, whatever the isolation of the database.
    transaction.execute("begin isolation level read committed".to_owned()).await?;
    transaction.query("select pg_advisory_xact_lock($1)", values![LOCK]).await?;
    let found = Found::look(&transaction).await?;
    let connector = pool.connector();
    if !found.has_schema {
        transaction.execute(create_schema(connector.schema())).await?;
    }
    for migration in MIGRATIONS.iter().skip(found.version) {
        transaction.execute(connector.sql(migration).into_owned()).await?;
    }
    transaction.commit().await?;
    transaction.end();
    Ok(())
}

struct Found {
    has_schema: bool,
    /// 0 without tables.
    version: usize,
}

impl Found {
    async fn look(transaction: &Transaction) -> Result<Self, Failure> {
        let look = "select to_regclass('omniassist.schema_version') is not null,
             exists (select 1 from pg_namespace where nspname = $1), getdatabaseencoding() = 'UTF8'";
        let schema = transaction.connector().schema();
        let found = transaction.query_one(look, values![Cow::Borrowed(schema)]).await?;
        if !rows::get::<bool>(&found, 2)? {
            return Err(Failure::Incompatible("the encoding of the database is not UTF-8"));
        }
        let has_schema = rows::get(&found, 1)?;
        if !rows::get::<bool>(&found, 0)? {
            return Ok(Self { has_schema, version: 0 });
        }
        let version = "select coalesce(max(version), 0) from omniassist.schema_version";
        let version = rows::int(&transaction.query_one(version, values![]).await?, 0)?;
        let version = usize::try_from(version).unwrap_or(usize::MAX);
        // Tables of version 1 do not have the column.
        if version > MIGRATIONS.len() {
            let usable_from = "select max(usable_from) from omniassist.schema_version";
            let usable_from = rows::int(&transaction.query_one(usable_from, values![]).await?, 0)?;
            if usize::try_from(usable_from).is_ok_and(|oldest| oldest > MIGRATIONS.len()) {
                return Err(Failure::Incompatible("the tables were made by a newer version of OmniAssist"));
            }
        }
        Ok(Self { has_schema, version })
    }
}
