//! Parameters of statements, with their types.
//!
//! Statements are not prepared on the server, since a pooler between transactions has another connection for the next one.
//! The types therefore come from here.

use std::borrow::Cow;
use std::time::SystemTime;

use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

/// A parameter and its type.
pub(crate) type Value<'a> = (Box<dyn ToSql + Send + Sync + 'a>, Type);

/// A type of parameters. A plain `&str` is none, so that every text passes [`text::stored`](crate::text::stored).
pub(crate) trait Typed: ToSql + Send + Sync {
    const ONE: Type;
    const MANY: Type;
}

macro_rules! typed {
    ($($rust:ty => $one:ident, $many:ident;)*) => {
        $(impl Typed for $rust {
            const ONE: Type = Type::$one;
            const MANY: Type = Type::$many;
        })*
    };
}

typed! {
    bool => BOOL, BOOL_ARRAY;
    i16 => INT2, INT2_ARRAY;
    i32 => INT4, INT4_ARRAY;
    i64 => INT8, INT8_ARRAY;
    f64 => FLOAT8, FLOAT8_ARRAY;
    &[u8] => BYTEA, BYTEA_ARRAY;
    Cow<'_, str> => TEXT, TEXT_ARRAY;
    SystemTime => TIMESTAMPTZ, TIMESTAMPTZ_ARRAY;
    Uuid => UUID, UUID_ARRAY;
}

impl<T: Typed> Typed for Option<T> {
    const ONE: Type = T::ONE;
    const MANY: Type = T::MANY;
}

impl<T: Typed> Typed for Vec<T> {
    const ONE: Type = T::MANY;
    const MANY: Type = Type::UNKNOWN;
}

pub(crate) fn value<'a, T: Typed + 'a>(value: T) -> Value<'a> {
    (Box::new(value), T::ONE)
}

/// Creates a list of parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::values::value($value)),*] };
}
pub(crate) use values;

/// Returns the id of a run or an instance.
pub(crate) fn id(bytes: &[u8; 16]) -> Uuid {
    Uuid::from_bytes(*bytes)
}

/// Returns a number of the journal: a position, an epoch, a count. None reaches the limit.
pub(crate) fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Returns a number of tokens, limited to the numbers of the database.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the number of rows that a statement may return or change.
pub(crate) fn limit(at_most: usize) -> i64 {
    i64::try_from(at_most).unwrap_or(i64::MAX)
}
