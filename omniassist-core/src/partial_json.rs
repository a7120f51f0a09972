//! A reader of incomplete JSON, such as the arguments of a tool call while the model writes them.
//!
//! Use it to display a value before it is complete. Each call reads the text from its start, so calling it for every
//! delta of a long value takes quadratic time. For complete JSON, use [`JsonText::parse`](crate::JsonText::parse),
//! which reports every error.
//!
//! ```
//! use omniassist_core::partial_json::parse_partial;
//! use serde_json::json;
//!
//! assert_eq!(parse_partial(r#"{"city": "Ber"#)?, Some(json!({"city": "Ber"})));
//! assert_eq!(parse_partial(r#"{"city": "Berlin", "da"#)?, Some(json!({"city": "Berlin"})));
//! assert_eq!(parse_partial("")?, None);
//! # Ok::<(), omniassist_core::Error>(())
//! ```

use jiter::{JsonErrorType, JsonValue, PartialMode};
use serde_json::{Number, Value};

use crate::json_tokens::Tokens;
use crate::{Error, Result};

/// Returns the value of an incomplete text, or `None` if there is nothing to show yet.
///
/// The value only grows with the text: objects and arrays gain members, and strings gain characters. The exception is
/// an object that repeats a key, in which the last value counts. Tokens that can still change are omitted: keys without
/// a value, unfinished escapes and words, and a number at the end. A text that consists of a number is therefore never
/// shown.
///
/// # Errors
///
/// Fails if the text cannot become JSON. Some errors are not detected: the text after an invalid token between members,
/// and after the end of the value, is ignored.
pub fn parse_partial(text: &str) -> Result<Option<Value>> {
    let settled = without_open_number(text.as_bytes());
    match JsonValue::parse_with_config(settled, false, PartialMode::TrailingStrings) {
        Ok(value) => to_value(value).map(Some),
        Err(error) if error.error_type == JsonErrorType::EofWhileParsingValue => Ok(None),
        Err(error) => Err(Error::invalid_json(error)),
    }
}

/// Returns the text without a number at its end, which may be incomplete.
fn without_open_number(text: &[u8]) -> &[u8] {
    match Tokens::of(text).last() {
        Some((at, token)) if token.number().is_some_and(|number| at + number.len() == text.len()) => {
            text.get(..at).unwrap_or(text)
        }
        _ => text,
    }
}

fn to_value(value: JsonValue<'_>) -> Result<Value> {
    Ok(match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(value) => Value::Bool(value),
        JsonValue::Int(value) => Value::from(value),
        JsonValue::BigInt(value) => number(value.to_string().parse().ok())?,
        JsonValue::Float(value) => number(Number::from_f64(value))?,
        JsonValue::Str(value) => Value::String(value.into_owned()),
        JsonValue::Array(items) => {
            let items = std::sync::Arc::unwrap_or_clone(items);
            Value::Array(items.into_iter().map(to_value).collect::<Result<_>>()?)
        }
        JsonValue::Object(members) => {
            let members = std::sync::Arc::unwrap_or_clone(members);
            let members = members.into_iter().map(|(key, value)| Ok((key.into_owned(), to_value(value)?)));
            Value::Object(members.collect::<Result<_>>()?)
        }
    })
}

fn number(number: Option<Number>) -> Result<Value> {
    number.map(Value::Number).ok_or_else(|| Error::invalid_json("number out of range"))
}
