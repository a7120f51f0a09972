//! The name of the schema in SQL.

use std::borrow::Cow;

use crate::failure::Failure;

/// The schema that the SQL of this crate names.
pub(crate) const SCHEMA: &str = "omniassist";

/// The limit of the database for names, in bytes.
const MAX_NAME: usize = 63;

/// Checks the name of a schema.
pub(crate) fn check(schema: &str) -> Result<(), Failure> {
    if schema.is_empty() || schema.len() > MAX_NAME || schema.contains(['"', '\'', '\0']) {
        return Err(Failure::Invalid(format!("the name of the schema is not valid: {schema:?}")));
    }
    Ok(())
}

/// Returns SQL of this crate for a schema.
pub(crate) fn within(schema: &str, sql: &'static str) -> Cow<'static, str> {
    if schema == SCHEMA {
        return Cow::Borrowed(sql);
    }
    Cow::Owned(sql.replace("omniassist.", &format!("\"{schema}\".")))
}
