//! The rules of providers, from their documentation and their refusals: judges of a request's body that know nothing
//! of how it was made.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;

use std::collections::HashSet;

use serde_json::Value;

/// Collects faults, each with the place it was found at.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, holds: bool, at: &str, fault: &str) {
        if !holds {
            self.0.push(format!("{at}: {fault}"));
        }
    }
}

/// A text that is there and holds more than white space.
fn is_said(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// A text that is there and not empty.
fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// A JSON text of an object.
fn is_object_text(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()))
}

fn is_name(value: &Value, longest: usize) -> bool {
    value.as_str().is_some_and(|name| {
        (1..=longest).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

/// Returns `true` if the key was not seen before.
fn is_new<'a>(seen: &mut HashSet<&'a str>, value: &'a Value) -> bool {
    value.as_str().is_some_and(|id| seen.insert(id))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
