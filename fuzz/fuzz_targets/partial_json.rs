//! Arguments that are still arriving. The value only grows, and the last value is that of a strict parser.
#![no_main]

use std::collections::HashSet;

use omniassist_core::partial_json::parse_partial;
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut before = None;
    let repeats = may_repeat_a_key(text);
    for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
        let Ok(value) = parse_partial(&text[..end]) else { break };
        if let (Some(before), Some(value), false) = (&before, &value, repeats) {
            assert!(grown(before, value), "{before} became {value}");
        }
        before = value.or(before);
    }
    if let Ok(strict @ (Value::Object(_) | Value::Array(_) | Value::String(_))) = serde_json::from_str(text) {
        let found = parse_partial(text).expect("whole JSON").expect("a value");
        assert!(same(&found, &strict), "{found} is not {strict}");
    }
});

/// Returns `true` if two keys may be the same. The last value then replaces the first one, so a value may shrink.
fn may_repeat_a_key(text: &str) -> bool {
    let mut keys = HashSet::new();
    let mut rest = text;
    while let Some((_, tail)) = rest.split_once('"') {
        let mut escaped = false;
        let end = tail.find(|letter| {
            let closes = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            closes
        });
        let Some(end) = end else { return false };
        let (string, after) = (&tail[..end], &tail[end + 1..]);
        if after.trim_start().starts_with(':') && (string.contains('\\') || !keys.insert(string)) {
            return true;
        }
        rest = after;
    }
    false
}

fn grown(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(before), Value::String(after)) => after.starts_with(before.as_str()),
        (Value::Array(before), Value::Array(after)) => {
            before.len() <= after.len()
                && before.iter().zip(after).all(|(before, after)| grown(before, after))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.iter().all(|(key, before)| after.get(key).is_some_and(|after| grown(before, after)))
        }
        (before, after) => before == after,
    }
}

/// Returns `true` if the values are equal, apart from rounding of the last digit of a float.
fn same(found: &Value, strict: &Value) -> bool {
    match (found, strict) {
        (Value::Array(found), Value::Array(strict)) => {
            found.len() == strict.len() && found.iter().zip(strict).all(|(found, strict)| same(found, strict))
        }
        (Value::Object(found), Value::Object(strict)) => {
            found.len() == strict.len()
                && found.iter().all(|(key, found)| strict.get(key).is_some_and(|strict| same(found, strict)))
        }
        (Value::Number(found), Value::Number(strict)) if found != strict => {
            let (found, strict) = (found.as_f64().unwrap_or(0.0), strict.as_f64().unwrap_or(0.0));
            (found - strict).abs() <= strict.abs() * 1e-15
        }
        (found, strict) => found == strict,
    }
}
