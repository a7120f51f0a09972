//! Values of Python as JSON.
//!
//! They are written here, in the host's process, so the size of each is bounded before it is formatted.

use monty_types::MontyObject;
use serde_json::{Map, Value};

/// The levels of lists and dicts that a value may have. Deeper ones become a text.
const MAX_DEPTH: usize = 32;

/// The bits of the largest integer that is written with its digits.
const MAX_INTEGER_BITS: u64 = 4_096;

/// Returns the JSON of a value, or `None` if it has more bytes than are left.
pub(super) fn to_json(value: &MontyObject, left: &mut usize) -> Option<Value> {
    at_depth(value, left, MAX_DEPTH)
}

fn at_depth(value: &MontyObject, left: &mut usize, depth: usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    let mut text = |text: String| {
        *left = left.checked_sub(text.len())?;
        Some(Value::String(text))
    };
    match value {
        MontyObject::None => Some(Value::Null),
        MontyObject::Bool(value) => Some((*value).into()),
        MontyObject::Int(value) => Some((*value).into()),
        MontyObject::Float(value) if value.is_finite() => Some((*value).into()),
        MontyObject::Float(value) => text(value.to_string()),
        MontyObject::BigInt(value) if value.bits() > MAX_INTEGER_BITS => {
            text(format!("<int of {} bits>", value.bits()))
        }
        MontyObject::BigInt(value) => match u64::try_from(value) {
            Ok(value) => Some(value.into()),
            Err(_) => text(value.to_string()),
        },
        MontyObject::String(value) | MontyObject::Path(value) | MontyObject::Repr(value) => {
            *left = left.checked_sub(value.len())?;
            Some(value.as_str().into())
        }
        MontyObject::List(_)
        | MontyObject::Tuple(_)
        | MontyObject::NamedTuple { .. }
        | MontyObject::Set(_)
        | MontyObject::FrozenSet(_)
        | MontyObject::Dict(_)
            if depth == 0 =>
        {
            text(format!("<{}>", value.type_name()))
        }
        MontyObject::List(values)
        | MontyObject::Tuple(values)
        | MontyObject::NamedTuple { values, .. }
        | MontyObject::Set(values)
        | MontyObject::FrozenSet(values) => values
            .iter()
            .map(|value| at_depth(value, left, depth - 1))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        MontyObject::Dict(pairs) => {
            let mut map = Map::new();
            for (key, value) in pairs.iter() {
                let key = match at_depth(key, left, 0)? {
                    Value::String(key) => key,
                    key => key.to_string(),
                };
                map.insert(key, at_depth(value, left, depth - 1)?);
            }
            Some(Value::Object(map))
        }
        MontyObject::Date(_)
        | MontyObject::DateTime(_)
        | MontyObject::Time(_)
        | MontyObject::TimeDelta(_)
        | MontyObject::TimeZone(_)
        | MontyObject::Type(_)
        | MontyObject::Function { .. }
        | MontyObject::Cycle(..) => text(value.to_string()),
        _ => text(format!("<{}>", value.type_name())),
    }
}

/// Returns the type of a part of a value that JSON does not describe. [`to_json`] writes such a part as a text for readers.
pub(super) fn part_without_json(value: &MontyObject) -> Option<&str> {
    part_at_depth(value, MAX_DEPTH)
}

fn part_at_depth(value: &MontyObject, depth: usize) -> Option<&str> {
    match value {
        MontyObject::None
        | MontyObject::Bool(_)
        | MontyObject::Int(_)
        | MontyObject::String(_)
        | MontyObject::Path(_) => None,
        MontyObject::Float(value) if value.is_finite() => None,
        MontyObject::Float(_) => Some("float that is not finite"),
        MontyObject::Repr(_) => Some("value"),
        MontyObject::BigInt(value) if value.bits() <= MAX_INTEGER_BITS => None,
        MontyObject::List(values)
        | MontyObject::Tuple(values)
        | MontyObject::NamedTuple { values, .. }
        | MontyObject::Set(values)
        | MontyObject::FrozenSet(values)
            if depth > 0 =>
        {
            values.iter().find_map(|value| part_at_depth(value, depth - 1))
        }
        MontyObject::Dict(pairs) if depth > 0 => pairs
            .iter()
            .find_map(|(key, value)| part_at_depth(key, 0).or_else(|| part_at_depth(value, depth - 1))),
        value => Some(value.type_name()),
    }
}

/// Returns a value that JSON describes.
pub(super) fn from_json(value: Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(value) => MontyObject::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => MontyObject::Int(value),
            (None, Some(value)) => MontyObject::BigInt(value.into()),
            (None, None) => MontyObject::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(value) => MontyObject::String(value),
        Value::Array(values) => MontyObject::List(values.into_iter().map(from_json).collect()),
        Value::Object(map) => {
            let pairs = map.into_iter().map(|(key, value)| (MontyObject::String(key), from_json(value)));
            MontyObject::Dict(pairs.collect())
        }
    }
}
