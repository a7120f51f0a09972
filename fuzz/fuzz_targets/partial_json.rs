//! Arguments that are still arriving, after a line with their schema. The value does not depend on the parts of the text
//! and only grows, and the last value is that of a strict parser.
#![no_main]

use std::collections::HashSet;

use omniassist_core::partial_json::Growing;
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|input: &str| {
    let (schema, text) = input.split_once('\n').unwrap_or(("", input));
    let schema = serde_json::from_str(schema).unwrap_or(Value::Null);
    let repeats = may_repeat_a_key(text);
    let mut growing = Growing::new();
    let (mut value, mut shown) = (None, None);
    for letter in text.chars() {
        let _ = growing.push(letter.encode_utf8(&mut [0; 4]));
        let (after, shown_after) = (growing.value(), growing.shown(&schema));
        if let (Some(shown), Some(value)) = (&shown_after, after) {
            assert!(grown(shown, value), "{shown} is not a part of {value}");
        }
        if !repeats {
            assert!(value.is_none() || after.is_some_and(|after| grown(value.as_ref().unwrap(), after)), "{value:?}");
            let grows = |shown: &Value| shown_after.as_ref().is_some_and(|after| grown(shown, after));
            assert!(shown.as_ref().is_none_or(grows), "{shown:?} became {shown_after:?}");
        }
        (value, shown) = (after.cloned(), shown_after.map(|shown| shown.into_owned()));
    }
    let mut whole = Growing::new();
    let _ = whole.push(text);
    assert_eq!((whole.value(), whole.open()), (growing.value(), growing.open()), "parts make a difference");

    let ended = growing.end();
    assert_eq!(ended.is_ok(), growing.is_complete());
    match serde_json::from_str::<Value>(text) {
        Ok(strict) if ended.is_ok() => assert_eq!(growing.value(), Some(&strict)),
        Ok(_) => assert!(text.matches(['[', '{']).count() > 64, "{ended:?}"),
        Err(_) => assert!(ended.is_err(), "{:?} is not JSON", growing.value()),
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
