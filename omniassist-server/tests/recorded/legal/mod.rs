//! The rules of providers for request bodies, from their documentation and their error responses. The checks are
//! independent of the encoders.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;

use std::collections::HashSet;

use serde_json::Value;

/// Collects faults and their places.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, holds: bool, at: &str, fault: &str) {
        if !holds {
            self.0.push(format!("{at}: {fault}"));
        }
    }
}

/// Returns `true` for a text with more than white space.
fn is_said(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Returns `true` for a non-empty text.
fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Returns `true` for the JSON text of an object.
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

/// Records an id and returns `true` if it is new.
fn is_new<'a>(seen: &mut HashSet<&'a str>, value: &'a Value) -> bool {
    value.as_str().is_some_and(|id| seen.insert(id))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
