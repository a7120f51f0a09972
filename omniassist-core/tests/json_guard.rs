//! Tests of the JSON guard, in part by comparison with a parser that keeps duplicate keys.

use std::fmt;

use omniassist_core::ErrorCode;
use omniassist_core::json_guard::check;
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value that keeps duplicate keys.
enum Tree {
    Leaf,
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn depth(&self) -> usize {
        match self {
            Self::Leaf => 0,
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(entries) => 1 + entries.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
        }
    }

    fn has_twice(&self) -> bool {
        match self {
            Self::Leaf => false,
            Self::Array(items) => items.iter().any(Self::has_twice),
            Self::Object(entries) => {
                let twice = entries
                    .iter()
                    .enumerate()
                    .any(|(n, (key, _))| entries[..n].iter().any(|(other, _)| other == key));
                twice || entries.iter().any(|(_, value)| value.has_twice())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_str<E>(self, _: &str) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Leaf)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Tree::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Tree::Object(entries))
            }
        }
        deserializer.deserialize_any(Reads)
    }
}

#[test]
fn a_duplicate_key_is_named_in_the_error() {
    for (json, path) in [
        (r#"{"a":1,"a":2}"#, "a"),
        (r#"{"a":1,"\u0061":2}"#, "a"),
        (r#"{"a":{"b":[1,{"c":1,"d":{},"c":null}]}}"#, "a.b[1].c"),
        (r#"[{"a":1},{"a":[[],{"x":1,"x":1}]}]"#, "[1].a[1].x"),
        (r#" { "k" : [ 1 , 2 , { "" : 0 , "" : 0 } ] } "#, "k[2]."),
        (r#"{"\/":1,"/":2}"#, "/"),
        (r#"{"\ud83d\ude00":1,"😀":2}"#, "😀"),
        (r#"{"\uD800":1,"\ud800":2}"#, "\u{fffd}\u{fffd}\u{fffd}"),
        (r#"{"a\"b":1,"a\u0022b":2}"#, "a\"b"),
        (r#"{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"1":0}"#, "1"),
        (r#"{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"\u0039":0}"#, "9"),
    ] {
        let error = check(json.as_bytes(), 64).expect_err(json);
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidRequest, Some(path)), "{json}");
        assert!(serde_json::from_str::<Tree>(json).map_or(true, |tree| tree.has_twice()), "{json}");
    }
    let long = format!("{{\"{0}\":1,\"{0}\":2}}", "k".repeat(10_000));
    assert!(check(long.as_bytes(), 64).unwrap_err().path().unwrap().len() < 100);
}

#[test]
fn equal_keys_of_different_objects_are_accepted() {
    for json in [
        r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":"a","b":"a","c":["a","a"]}"#,
        r#"{"a":1,"A":2,"a ":3,"\u0000a":4}"#,
        r#"{"\ud800":1,"\ud801":2,"\udc00":3,"\ud800\udc00":4}"#,
        r#"{"a":"{\"a\":1,\"a\":2}"}"#,
        r#"{"\\u0061":1,"a":2}"#,
        r#"{"a":",\"a\":","b":"}"}"#,
    ] {
        assert!(check(json.as_bytes(), 64).is_ok(), "{json}: {:?}", check(json.as_bytes(), 64));
    }
}

fn nested(depth: usize, open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn the_depth_limit_is_exact() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), (" [ ", " ] ")] {
        assert!(check(nested(64, open, close).as_bytes(), 64).is_ok());
        let error = check(nested(65, open, close).as_bytes(), 64).unwrap_err();
        assert_eq!(error.limit(), Some(("max_json_depth", 64)));
        assert_eq!(error.path(), None);
    }
    assert_eq!(check(&b"[".repeat(1 << 20), 64).unwrap_err().limit(), Some(("max_json_depth", 64)));
}

#[test]
fn siblings_do_not_add_to_the_depth() {
    let wide = format!("[{}1]", "[[]],".repeat(1_000));
    assert!(check(wide.as_bytes(), 3).is_ok());
    assert!(check(wide.as_bytes(), 2).is_err());
}

#[test]
fn brackets_in_strings_do_not_count() {
    for (json, depth) in [
        (r#"["[[[[", "{{\"[[", "\\", [1]]"#, 2),
        (r#""\\\"[[[""#, 0),
        (r#"{"[[[": "]]]"}"#, 1),
        ("[\"\\u005b\u{1f600}[\"]", 1),
    ] {
        assert!(check(json.as_bytes(), depth).is_ok(), "{json}");
        assert!(depth == 0 || check(json.as_bytes(), depth - 1).is_err(), "{json}");
    }
}

#[test]
fn text_that_is_not_json_is_refused() {
    for json in [
        "",
        " ",
        "\"",
        "\"\\",
        "]",
        "[",
        "[1",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1,}",
        "[}",
        "{]",
        "[1 2]",
        "1 2",
        "{1:2}",
        "{\"a\" 1}",
        "{\"a\",1}",
        "[\"a\":1]",
        "tru",
        "truefalse",
        "nul",
        "01",
        "1.",
        "-",
        "+1",
        "1e",
        ".5",
        "NaN",
        "'a'",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u00g0\"",
        "\"\\u00\"",
        "\"abc\\\"",
        "\u{1}1",
        "[1]\u{b}",
        "\u{feff}1",
        "1,",
        "{}{}",
        ":",
        ",",
    ] {
        let error = check(json.as_bytes(), 64).expect_err(json);
        assert_eq!(error.code(), ErrorCode::InvalidJson, "{json}: {error}");
    }
    let error = check(br#"{"a":[1,2],"b" 3}"#, 64).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "expected `:` at line 1 column 16");
}

/// Many keys have a long common prefix. A comparison of all pairs would take hours.
#[test]
fn hostile_keys_are_checked_in_little_time() {
    let started = std::time::Instant::now();
    for (count, length) in [(400_000, 0), (2_000, 4_000)] {
        for escape in ["", "\\n"] {
            let prefix = "k".repeat(length);
            let entries: Vec<String> = (0..count).map(|n| format!("\"{prefix}{escape}{n}\":0")).collect();
            let json = format!("{{{}}}", entries.join(","));
            assert!(check(json.as_bytes(), 64).is_ok());
            let twice = json.replace(&format!("{escape}{}\"", count - 1), &format!("{escape}7\""));
            assert!(check(twice.as_bytes(), 64).is_err());
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Returns JSON text with short keys, some of them with escapes.
fn text() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("a"),
        Just("\\u0061"),
        Just("b"),
        Just("\\n"),
        Just("\\u000a"),
        Just("\\\\"),
        Just("\\u005C"),
        Just("\\\""),
        Just(""),
        Just("é"),
        Just("\\u00e9"),
        Just("\\ud83d\\ude00"),
        Just("😀"),
    ];
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("\"a\"".to_owned()),
        Just("\"{\\\"\"".to_owned()),
        Just("null".to_owned())
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| {
                let entries: Vec<String> =
                    entries.into_iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn duplicate_keys_are_found_as_by_a_parser(json in text()) {
        let tree: Tree = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(check(json.as_bytes(), 64).is_err(), tree.has_twice(), "{}", json);
        let (depth, has_twice) = (tree.depth(), tree.has_twice());
        prop_assert!(has_twice || check(json.as_bytes(), depth).is_ok(), "{}", json);
        prop_assert!(depth == 0 || check(json.as_bytes(), depth - 1).is_err(), "{}", json);
    }

    #[test]
    fn any_bytes_are_checked_without_a_panic(bytes: Vec<u8>) {
        let _ = check(&bytes, 4);
    }

    #[test]
    fn invalid_json_is_refused(text in "[\\[\\]{}\",:\\\\ua0d8e.+ \\n\\-\u{1}]{0,12}", json in text(), cut in 0..40_usize) {
        let chars: Vec<char> = json.chars().collect();
        let cut = cut.min(chars.len());
        let broken: String = chars[..cut].iter().copied().chain(text.chars()).chain(chars[cut..].iter().copied()).collect();
        for text in [&text, &broken] {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            let has_twice = || serde_json::from_str::<Tree>(text).map_or(true, |tree| tree.has_twice());
            match check(text.as_bytes(), 64) {
                Ok(()) => prop_assert!(is_json, "{}", text),
                Err(error) if error.code() == ErrorCode::InvalidJson => prop_assert!(!is_json, "{}", text),
                Err(error) => prop_assert!(!is_json || has_twice(), "{}: {}", text, error),
            }
        }
    }
}
