use super::{bullets, compress};
use serde_json::Value;

/// Returns the bullet of a message with one text.
fn shown(given: &str) -> String {
    let compressed = compress([("t", Value::from(given))]);
    bullets(&compressed).concat()
}

fn quoted(text: &str) -> String {
    format!("t: {}", Value::from(text))
}

#[test]
fn secrets_are_removed_and_the_rest_is_kept() {
    for (given, expected) in [
        ("/a?x=1&token=T&y=2", "/a?x=1&token=[redacted]&y=2"),
        ("token=T", "token=[redacted]"),
        ("?token=", "?token="),
        ("#token=T", "#token=[redacted]"),
        ("/a;token=T;b=1", "/a;token=[redacted]"),
        ("/a?to%6ben=T", "/a?to%6ben=[redacted]"),
        ("/a?token=T=U?V#W X&y=1", "/a?token=[redacted]&y=1"),
        ("token=T\nx=1", "token=[redacted]\nx=1"),
        ("https://u:p@h/a?x=1@2", "https://[redacted]@h/a?x=1@2"),
        ("https://u@h", "https://[redacted]@h"),
        ("https://u:p@q@h/", "https://[redacted]@h/"),
        ("https://u:p/q#r@h/", "https://[redacted]@h/"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("see https://h/@me and a@b", "see https://h/@me and a@b"),
        ("/a?next=%2Fb%3Ftoken%3DT&y=1", "/a?next=[redacted]&y=1"),
        ("/a?next=%252Fb%253Ftoken%253DT", "/a?next=[redacted]"),
        ("/a?next=https%3A%2F%2Fu%3Ap%40h", "/a?next=[redacted]"),
        ("/a?q=100%25+%e4", "/a?q=100%25+%e4"),
        ("%", "%"),
        ("a=b", "a=b"),
    ] {
        assert_eq!(shown(given), quoted(expected), "{given}");
        assert_eq!(shown(expected), quoted(expected), "a second pass must not change {expected}");
    }
}

#[test]
fn text_with_too_many_levels_of_encoding_is_replaced() {
    assert_eq!(shown("/a?n=%25252525252541"), quoted("/a?n=[redacted]"));
}

#[test]
fn truncated_json_reveals_no_secret() {
    assert_eq!(shown("{\"a\": 1, \"token\" : \"T"), "t: [redacted]");
    assert_eq!(shown("{\\\"token\\\":\\\"T"), "t: [redacted]");
    assert_eq!(shown("{\"a\": \"token\", \"b"), quoted("{\"a\": \"token\", \"b"));
}
