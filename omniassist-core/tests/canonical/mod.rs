//! Comparison of the canonical form with JavaScript: `make.mjs` writes `vectors.jsonl` with Node.js, and the client
//! suite checks that its output is unchanged. `OMNIASSIST_VECTORS` names a further file.

mod exact;

use std::fs;

use omniassist_core::{JsonText, canonical};
use proptest::prelude::*;

const VECTORS: &str = include_str!("vectors.jsonl");

fn of(json: &str) -> String {
    canonical::of(&JsonText::parse(json.to_owned()).unwrap()).unwrap().json().to_string()
}

fn check(vectors: &str) -> usize {
    let pairs = vectors.lines().map(|line| serde_json::from_str::<(String, String)>(line).unwrap());
    pairs
        .map(|(json, expected)| {
            assert_eq!(of(&json), expected, "{json}");
            assert_eq!(of(&expected), expected, "the canonical form must be stable");
            let again = canonical::of(&JsonText::parse(expected).unwrap()).unwrap();
            assert!(!again.left_out());
        })
        .count()
}

#[test]
fn the_canonical_form_equals_the_output_of_javascript() {
    assert_eq!(check(VECTORS), 1200);
    if let Some(path) = std::env::var_os("OMNIASSIST_VECTORS") {
        println!("{} more", check(&fs::read_to_string(path).unwrap()));
    }
}

#[test]
fn omitted_keys_are_reported() {
    let left_out = |json: &str| canonical::of(&JsonText::parse(json.to_owned()).unwrap()).unwrap().left_out();
    for json in [
        r#"{"a":1,"a":1}"#,
        r#"[{"b":{"__proto__":1}}]"#,
        r#"{"\u005f_proto__":1}"#,
        r#"{"constructor":{"prototype":1}}"#,
        r#"{"a":1,"\u0061":2}"#,
    ] {
        assert!(left_out(json), "{json}");
    }
    for json in [r#"{"b":1,"a":1.0}"#, r#"{"constructor":{"x":1}}"#, r#"{"prototype":{}}"#, "[]", "1e400"] {
        assert!(!left_out(json), "{json}");
    }
}

#[test]
fn a_value_has_at_most_128_levels() {
    let nested = |levels: usize| JsonText::parse("[".repeat(levels) + &"]".repeat(levels)).unwrap();
    assert!(canonical::of(&nested(128)).is_some());
    assert!(canonical::of(&nested(129)).is_none());
    assert!(canonical::of(&nested(100_000)).is_none());

    let mut out = b"before".to_vec();
    assert!(canonical::append(&nested(129), &mut out).is_none());
    assert_eq!(out, b"before");
    assert!(canonical::append(&nested(1), &mut out).is_some());
    assert_eq!(out, b"before[]");
}

#[test]
fn long_keys_with_a_common_prefix_are_sorted() {
    let beginning = "ü".repeat(8_000);
    let keys = (0..500).rev().map(|number| format!("\"{beginning}{number:03}\":{number}"));
    let json = format!("{{{}}}", keys.collect::<Vec<_>>().join(","));
    let expected = (0..500).map(|number| format!("\"{beginning}{number:03}\":{number}"));
    assert_eq!(of(&json), format!("{{{}}}", expected.collect::<Vec<_>>().join(",")));
}

fn tree() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_canonical_form_keeps_the_value(value in tree()) {
        let json = JsonText::from_value(&value);
        let form = canonical::of(&json).unwrap();
        prop_assert!(!form.left_out());
        prop_assert!(same(&form.json().to_value(), &value), "{}", form.json());
        let indented = JsonText::parse(serde_json::to_string_pretty(&value).unwrap()).unwrap();
        prop_assert_eq!(canonical::of(&indented).unwrap().json().clone(), form.json().clone());
    }
}

/// Returns `true` if two values are equal with numbers as doubles.
fn same(one: &serde_json::Value, other: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let equal = |(key, one): (&String, &Value)| other.get(key).is_some_and(|other| same(one, other));
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}
