//! How long a value is that has been walked before: it is passed over, not checked again.

use crate::json_scan::content_length;

/// How long the value at the front is.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_length(bytes),
        b'{' | b'[' => {
            let (mut at, mut depth) = (0_usize, 0_usize);
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at += string_length(bytes.get(at..)?)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            Some(bytes.iter().position(ends).unwrap_or(bytes.len()))
        }
    }
}

/// With both quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    Some(content_length(bytes.get(1..)?)? + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::message::raw::{self, Found, ObjectSeed, Raw, raw_record};

    raw_record! {
        Fields {
            a: "a",
            b: "b",
            ab: "ä\"b",
        }
    }

    fn told(found: Found<Fields<'_>>) -> String {
        match found {
            Found::Value(Fields { a, b, ab }) => format!("{a:?} {b:?} {ab:?}"),
            Found::Duplicate(key) => format!("{key} twice"),
            Found::TooMany => "too many".to_owned(),
            Found::Other(kind) => kind.to_owned(),
        }
    }

    fn by_serde(json: &str) -> String {
        told(raw::read(json, ObjectSeed(Fields::default())).ok().unwrap())
    }

    #[test]
    fn objects_are_read_as_serde_reads_them() {
        for json in [
            "{}",
            " { } ",
            "[]",
            "7",
            "\"a\"",
            "null",
            r#"{"a":1,"b":[{"a":"]}"},"\\"],"c":{"a":2}}"#,
            r#"{"\u0061":1, "ä\"b" : "x\"y" }"#,
            r#"{"a":1,"b":2,"a":3,"\u0062":4}"#,
            r#"{"c":1,"c":2,"a":-1.5e3}"#,
            "{\n\t\"a\" :\r\n [ 1 , \"}\" ] ,\n \"b\":true }",
        ] {
            let json = json.trim();
            assert_eq!(told(raw::object(Raw::known(json)).ok().unwrap()), by_serde(json), "{json}");
        }
    }

    #[test]
    fn half_a_character_is_no_key() {
        assert!(raw::object::<Fields<'_>>(Raw::known(r#"{"a":1,"\ud800":2}"#)).is_err());
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<bool>().prop_map(Into::into)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[ab{}\\[\\]\",:\\\\ä]{0,3}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_read_as_serde_reads_it(value in value(), pretty: bool) {
            let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let json = json.unwrap();
            prop_assert_eq!(told(raw::object(Raw::known(&json)).ok().unwrap()), by_serde(&json));
        }
    }
}
