//! Tests of the parser of incomplete JSON.

use omniassist_core::partial_json::parse_partial;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn incomplete_tokens_are_omitted() {
    for (text, expected) in [
        ("", None),
        (" \n", None),
        ("t", None),
        ("nul", None),
        ("-", None),
        ("12", None),
        ("12 ", Some(json!(12))),
        ("true", Some(json!(true))),
        ("false", Some(json!(false))),
        ("\"", Some(json!(""))),
        ("\"a 12", Some(json!("a 12"))),
        ("{", Some(json!({}))),
        (r#"{"a"#, Some(json!({}))),
        (r#"{"a""#, Some(json!({}))),
        (r#"{"a":"#, Some(json!({}))),
        (r#"{"a": tr"#, Some(json!({}))),
        (r#"{"a": true"#, Some(json!({"a": true}))),
        (r#"{"a": 1"#, Some(json!({}))),
        (r#"{"a": 1.5e3"#, Some(json!({}))),
        (r#"{"a": 1,"#, Some(json!({"a": 1}))),
        (r#"{"a": 1, "b2"#, Some(json!({"a": 1}))),
        (r#"{"a": 1, "b2""#, Some(json!({"a": 1}))),
        (r#"{"a": "x\"#, Some(json!({"a": "x"}))),
        (r#"{"a": "x\u00"#, Some(json!({"a": "x"}))),
        (r#"{"a": "x\ud83d"#, Some(json!({"a": "x"}))),
        (r#"{"a": "x\ud83d\ude0"#, Some(json!({"a": "x"}))),
        (r#"{"a": "x\ud83d\ude00"#, Some(json!({"a": "x😀"}))),
        (r#"[1, 2, 3"#, Some(json!([1, 2]))),
        (r#"[1, [{"a": ["#, Some(json!([1, [{"a": []}]]))),
        (r#"{"a": 1, "a": 2}"#, Some(json!({"a": 2}))),
        ("[18446744073709551615]", Some(json!([18_446_744_073_709_551_615_u64]))),
    ] {
        assert_eq!(parse_partial(text).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn invalid_json_is_an_error() {
    for text in ["nulx", "[nan", "{a", "{\"a\" 1}", "[1e999]", "]", &"[".repeat(1_000)] {
        let error = parse_partial(text).expect_err(text);
        assert_eq!(error.code().as_str(), "invalid_json");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a\"\\\\\u{1f600}\u{e4}0-9\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c1\"\\\\:\u{e4}]{0,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Returns JSON text with all non-ASCII characters escaped, so that surrogate pairs are split too.
fn escaped(json: &str) -> String {
    let mut out = String::new();
    for char in json.chars() {
        if char.is_ascii() {
            out.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Returns `true` if `later` equals `earlier` or adds to it.
fn grew(earlier: &Value, later: &Value) -> bool {
    match (earlier, later) {
        (Value::String(earlier), Value::String(later)) => later.starts_with(earlier.as_str()),
        (Value::Array(earlier), Value::Array(later)) => {
            earlier.len() <= later.len()
                && earlier.iter().zip(later).all(|(earlier, later)| grew(earlier, later))
        }
        (Value::Object(earlier), Value::Object(later)) => {
            earlier.iter().all(|(key, value)| later.get(key).is_some_and(|later| grew(value, later)))
        }
        _ => earlier == later,
    }
}

proptest! {
    #[test]
    fn every_prefix_is_parsed_and_extends_the_value(value in json_value(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        for mut text in [text.clone(), escaped(&text)] {
            text.push('\n');
            let mut shown = None;
            for prefix in (0..=text.len()).filter_map(|end| text.get(..end)) {
                let next = parse_partial(prefix).unwrap();
                if let Some(earlier) = &shown {
                    prop_assert!(
                        next.as_ref().is_some_and(|later| grew(earlier, later)),
                        "{earlier} became {next:?} at {prefix:?}",
                    );
                }
                shown = next;
            }
            prop_assert_eq!(shown.as_ref(), Some(&value));
        }
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "[\\[\\]{}:,\"\\\\a-z0-9eE.+-]{0,40}") {
        let _ = parse_partial(&text);
    }
}
