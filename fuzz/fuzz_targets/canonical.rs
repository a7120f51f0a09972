//! The canonical form against the tree that `serde_json` reads. Both contain the same values, and the canonical form of
//! a canonical form is the same form.
#![no_main]

use omniassist_core::{JsonText, canonical};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(json) = JsonText::parse(text.to_owned()) else { return };
    let Some(form) = omniassist_fuzz::bounded(text.len(), || canonical::of(&json)) else { return };
    let again = canonical::of(form.json()).expect("a form has a form");
    assert_eq!(again.json().as_str(), form.json().as_str(), "the form of a form differs");
    assert!(!again.left_out(), "a form leaves nothing out");

    // A tree cannot contain half surrogate pairs, and numbers out of the range of a double.
    let (Ok(mut tree), Ok(formed)) = (serde_json::from_str(text), serde_json::from_str::<Value>(form.json().as_str()))
    else {
        return;
    };
    canonical::remove_refused(&mut tree);
    assert!(is_same(&tree, &formed), "{tree} is not {formed}");
});

/// Compares values, and numbers as doubles like JavaScript.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}
