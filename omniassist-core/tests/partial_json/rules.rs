//! The rules of the parser, one by one.

use omniassist_core::partial_json::{Growing, Status};
use serde_json::{Value, json};

fn grown(text: &str) -> Growing {
    let mut growing = Growing::new();
    let _ = growing.push(text);
    growing
}

#[test]
fn incomplete_tokens_are_omitted() {
    for (text, expected, open) in [
        ("", None, None),
        (" \n", None, None),
        ("t", None, Some("")),
        ("nul", None, Some("")),
        ("-", None, Some("")),
        ("12", None, Some("")),
        ("12 ", Some(json!(12)), None),
        ("true", Some(json!(true)), None),
        ("\"", Some(json!("")), Some("")),
        ("\"a 12", Some(json!("a 12")), Some("")),
        ("{", Some(json!({})), Some("")),
        (r#"{"a"#, Some(json!({})), Some("")),
        (r#"{"a":"#, Some(json!({})), Some("")),
        (r#"{"a": tr"#, Some(json!({})), Some("/a")),
        (r#"{"a": true"#, Some(json!({"a": true})), Some("")),
        (r#"{"a": 1.5e3"#, Some(json!({})), Some("/a")),
        (r#"{"a": 1,"#, Some(json!({"a": 1})), Some("")),
        (r#"{"a": 1, "b2""#, Some(json!({"a": 1})), Some("")),
        (r#"{"a": "x\"#, Some(json!({"a": "x"})), Some("/a")),
        (r#"{"a": "x\u00"#, Some(json!({"a": "x"})), Some("/a")),
        (r#"{"a": "x\ud83d"#, Some(json!({"a": "x"})), Some("/a")),
        (r#"{"a": "x\ud83d\ude0"#, Some(json!({"a": "x"})), Some("/a")),
        (r#"{"a": "x\ud83d\ude00"#, Some(json!({"a": "x😀"})), Some("/a")),
        ("[1, 2, 3", Some(json!([1, 2])), Some("/2")),
        (r#"[1, [{"a/~": ["#, Some(json!([1, [{"a/~": []}]])), Some("/1/0/a~1~0")),
        (r#"{"a": 1, "a": 2}"#, Some(json!({"a": 2})), None),
        (r#"{"a": [1], "a": ""#, Some(json!({"a": ""})), Some("/a")),
    ] {
        let growing = grown(text);
        assert_eq!((growing.value(), growing.open().as_deref()), (expected.as_ref(), open), "{text:?}");
        assert!(growing.error().is_none(), "{text:?}");
    }
}

#[test]
fn text_that_cannot_become_json_is_an_error_and_the_value_stays() {
    let deep = format!("{}]", "[".repeat(65));
    for (text, value) in [
        ("nulx", None),
        ("[nan", Some(json!([]))),
        ("{a", Some(json!({}))),
        ("{\"a\" 1}", Some(json!({}))),
        ("{\"a\": 1]", Some(json!({"a": 1}))),
        ("[1}", Some(json!([1]))),
        ("[1,]", Some(json!([1]))),
        ("{\"a\": 1,}", Some(json!({"a": 1}))),
        ("[1e999]", Some(json!([]))),
        ("[01,", Some(json!([]))),
        ("[1.]", Some(json!([]))),
        ("]", None),
        ("\u{feff}1", None),
        (r#"["a\x"#, Some(json!(["a"]))),
        (r#"["a\u00g0"#, Some(json!(["a"]))),
        (r#"["a\ude00"#, Some(json!(["a"]))),
        (r#"["a\ud83da"#, Some(json!(["a"]))),
        (r#"["a\ud83d\n"#, Some(json!(["a"]))),
        (r#"["a\ud83d\u0041"#, Some(json!(["a"]))),
        ("[\"a\nb", Some(json!(["a"]))),
        ("[\"a\0b", Some(json!(["a"]))),
        ("{} {", Some(json!({}))),
        ("\"a\"b", Some(json!("a"))),
        (&deep, None),
    ] {
        let mut growing = grown(text);
        let error = growing.error().unwrap_or_else(|| panic!("{text:?}"));
        assert_eq!(error.code().as_str(), "invalid_json");
        if text.len() < 60 {
            assert_eq!(growing.value(), value.as_ref(), "{text:?}");
        }
        let before = growing.value().cloned();
        assert!(growing.push("]}").is_err() && growing.end().is_err() && !growing.is_complete());
        assert_eq!(growing.value(), before.as_ref());
    }
}

#[test]
fn sixty_four_levels_are_read() {
    let text = format!("{}{}", "[".repeat(64), "]".repeat(64));
    assert!(grown(&text).is_complete());
}

#[test]
fn the_end_of_the_text_completes_a_number_and_refuses_an_open_value() {
    let mut growing = grown("12");
    assert!(!growing.is_complete());
    growing.end().unwrap();
    assert_eq!((growing.value(), growing.is_complete()), (Some(&json!(12)), true));
    for text in ["", "-", "[1", "{\"a\":", "tru", "\"a"] {
        assert!(grown(text).end().is_err(), "{text:?}");
    }
}

#[test]
fn each_member_has_a_status() {
    let statuses = |text: &str| {
        let growing = grown(text);
        ["", "/title", "/rows", "/rows/0", "/rows/1", "/rows/1/name"].map(|path| growing.status(path))
    };
    use Status::{Done, Pending, Streaming};
    assert_eq!(statuses(""), [Pending; 6]);
    assert_eq!(statuses(r#"{"title""#), [Streaming, Pending, Pending, Pending, Pending, Pending]);
    assert_eq!(statuses(r#"{"title": 1"#), [Streaming, Streaming, Pending, Pending, Pending, Pending]);
    let text = r#"{"title": "a", "rows": [{"name": "b"}, {"name": ""#;
    assert_eq!(statuses(text), [Streaming, Done, Streaming, Done, Streaming, Streaming]);
    let text = format!(r#"{text}c"}}"#);
    assert_eq!(statuses(&text), [Streaming, Done, Streaming, Done, Done, Done]);
    assert_eq!(statuses(&format!("{text}]}}")), [Done; 6]);
    // A key whose beginning is that of an open one.
    assert_eq!(grown(r#"{"tit": 1, "title": "a"#).status("/tit"), Done);
}

#[test]
fn parts_with_another_meaning_than_the_whole_are_not_shown() {
    let schema = json!({
        "$defs": {"Kind": {"oneOf": [{"const": "bar"}, {"const": "line"}]}, "Row": {"properties": {"kind": {"$ref": "#/$defs/Kind"}}}},
        "properties": {
            "url": {"type": ["string", "null"], "format": "uri"},
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
            "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
            "note": {"type": "string", "format": "email", "x-stream": "text"},
            "time": {"type": "string", "x-stream": "atomic"},
            "point": {"type": "object", "x-stream": "atomic"},
            "either": {"anyOf": [{"type": "array", "enum": [[]]}, {"type": "string"}]},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            "tuple": {"prefixItems": [{"format": "date"}], "items": {"type": "string"}},
        },
        "additionalProperties": {"format": "uri"},
    });
    for (text, shown) in [
        (r#"{"url": "https://exa"#, json!({})),
        (r#"{"url": "https://exa""#, json!({"url": "https://exa"})),
        (r#"{"other": "https://exa"#, json!({})),
        (r#"{"code": "A"#, json!({})),
        (r#"{"kind": "ba"#, json!({})),
        (r#"{"note": "ba"#, json!({"note": "ba"})),
        (r#"{"time": "12"#, json!({})),
        (r#"{"point": {"x": 1, "#, json!({})),
        (r#"{"point": {"x": 1}"#, json!({"point": {"x": 1}})),
        (r#"{"either": "b"#, json!({"either": "b"})),
        (r#"{"either": ["b""#, json!({})),
        (r#"{"rows": [{"kind": "bar"}, {"kind": "li"#, json!({"rows": [{"kind": "bar"}, {}]})),
        (r#"{"tuple": ["2026"#, json!({"tuple": []})),
        (r#"{"tuple": ["2026-11-30", "a"#, json!({"tuple": ["2026-11-30", "a"]})),
    ] {
        let growing = grown(text);
        assert!(growing.error().is_none(), "{text}");
        assert_eq!(growing.shown(&schema).as_deref(), Some(&shown), "{text}");
    }
    assert_eq!(grown("\"https://exa").shown(&json!({"format": "uri"})), None);
    assert_eq!(grown("").shown(&json!({})), None);
    // A schema that contains itself.
    let endless = json!({"$ref": "#", "anyOf": [{"$ref": "#"}], "items": {"$ref": "#"}});
    assert_eq!(grown("[[\"a").shown(&endless).as_deref(), Some(&json!([["a"]])));
}

#[test]
fn a_value_of_a_mebibyte_is_read_in_small_parts() {
    let rows: Vec<Value> =
        (0..16_000).map(|row| json!({"id": row, "name": format!("name {row}\n"), "done": null})).collect();
    let value = json!({"rows": rows, "text": "x".repeat(400_000)});
    let text = value.to_string();
    let mut growing = Growing::new();
    for part in text.as_bytes().chunks(4) {
        growing.push(str::from_utf8(part).unwrap()).unwrap();
    }
    growing.end().unwrap();
    assert_eq!(growing.value(), Some(&value));
}
