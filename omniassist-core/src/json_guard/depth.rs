use crate::json_scan::content_length;
use crate::{Error, Result};

/// Checks that arrays and objects are nested at most `max_depth` deep
/// ([`Limits::max_json_depth`](crate::Limits::max_json_depth)). Brackets within strings do not count. Takes any bytes;
/// up to the first byte that is not JSON, no value lies deeper than was counted.
///
/// # Errors
///
/// Returns an error with the limit `max_json_depth` when they are nested deeper.
pub fn check_depth(bytes: &[u8], max_depth: usize) -> Result<()> {
    let mut depth = 0_usize;
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => rest = after_string(rest).unwrap_or_default(),
            b'[' | b'{' => {
                depth += 1;
                if depth > max_depth {
                    return Err(Error::limit_exceeded("max_json_depth", max_depth, None));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the bytes behind a string whose opening quote was just read, or `None` if the string does not end.
pub(crate) fn after_string(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(content_length(bytes)? + 1..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize, open: &str, close: &str) -> String {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    }

    #[test]
    fn the_limit_is_exact() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), (" [ ", " ] ")] {
            assert!(check_depth(nested(64, open, close).as_bytes(), 64).is_ok());
            let error = check_depth(nested(65, open, close).as_bytes(), 64).unwrap_err();
            assert_eq!(error.limit(), Some(("max_json_depth", 64)));
            assert_eq!(error.path(), None);
        }
    }

    #[test]
    fn siblings_do_not_add_up() {
        let wide = format!("[{}1]", "[[]],".repeat(1_000));
        assert!(check_depth(wide.as_bytes(), 3).is_ok());
        assert!(check_depth(wide.as_bytes(), 2).is_err());
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        for (json, depth) in [
            (r#"["[[[[", "{{\"[[", "\\", [1]]"#, 2),
            (r#""\\\"[[[""#, 0),
            (r#"{"[[[": "]]]"}"#, 1),
            ("[\"\\u005b\u{1f600}[\"]", 1),
        ] {
            assert!(check_depth(json.as_bytes(), depth).is_ok(), "{json}");
            assert!(depth == 0 || check_depth(json.as_bytes(), depth - 1).is_err(), "{json}");
        }
    }

    #[test]
    fn what_is_not_json_does_no_harm() {
        for bytes in [&b""[..], b"\"", b"\"\\", b"]]]]", b"\xff\xfe[", b"[}[}[}", b"\"abc\\\""] {
            assert!(check_depth(bytes, 1).is_ok(), "{bytes:?}");
        }
        assert!(check_depth(b"]]]][[", 1).is_err());
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![any::<String>().prop_map(Into::into), any::<i32>().prop_map(Into::into)];
        leaf.prop_recursive(8, 64, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[\\[\\]\"\\\\{}a]{0,4}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn depth_of(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
            serde_json::Value::Object(map) => 1 + map.values().map(depth_of).max().unwrap_or(0),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn it_counts_as_the_tree_does(value in json()) {
            let (text, depth) = (value.to_string(), depth_of(&value));
            prop_assert!(check_depth(text.as_bytes(), depth).is_ok());
            prop_assert!(depth == 0 || check_depth(text.as_bytes(), depth - 1).is_err());
        }

        #[test]
        fn any_bytes_are_taken(bytes: Vec<u8>) {
            let _ = check_depth(&bytes, 4);
        }
    }
}
