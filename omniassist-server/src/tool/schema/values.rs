//! Types, equality and order of values.

use std::cmp::Ordering;

use serde_json::{Number, Value};

pub(super) fn is_of_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match (name, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => {
            number.as_i128().is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Compares integers exactly, and other numbers as doubles.
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

pub(super) fn is_multiple(number: &Number, unit: &Number) -> bool {
    if let (Some(number), Some(unit)) = (number.as_i128(), unit.as_i128()) {
        return number.checked_rem(unit) == Some(0);
    }
    let (Some(number), Some(unit)) = (number.as_f64(), unit.as_f64()) else { return true };
    let quotient = number / unit;
    (quotient - quotient.round()).abs() <= quotient.abs().max(1.0) * 4.0 * f64::EPSILON
}

/// A text that is the same for equal values: `1` and `1.0` are one number.
pub(super) fn key_of(value: &Value) -> String {
    match value {
        Value::Number(number) if number.as_i128().is_none() => match number.as_f64() {
            Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(key_of).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), key_of(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

/// Returns the number of values in this one, itself included.
pub(super) fn values_in(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(fields) => fields.values().map(values_in).sum(),
        _ => 0,
    }
}
